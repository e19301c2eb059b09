#include "bench/peer.h"

const peer *const tac_peers[] = {
#ifdef HAVE_FCL
	&peer_fcl,
#endif
#ifdef HAVE_ODE
	&peer_ode,
#endif
#ifdef HAVE_BULLET
	&peer_bullet,
#endif
#ifdef HAVE_EMBREE
	&peer_embree,
#endif
#ifdef HAVE_CGAL
	&peer_cgal,
#endif
	NULL,
};
