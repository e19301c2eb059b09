// The list of contacts (collision/contacts.h), as both queries fill it.
#ifndef TAC_COLLISION_CONTACTS_CONTACT_LIST_H
#define TAC_COLLISION_CONTACTS_CONTACT_LIST_H

#include "collision/contacts.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

// Tolerances for two contacts of a vertex with coplanar faces, which are one contact: gaps, m, and 1 - the
// cosine between the normals.
#define TAC_CONTACTS_SAME_GAP    1e-9
#define TAC_CONTACTS_SAME_NORMAL 1e-12

static inline bool tac_contacts_coplanar(const tac_contact_point *c, tac_dvec3 normal, double gap)
{
	return tac_dvec3_dot(c->normal, normal) > 1 - TAC_CONTACTS_SAME_NORMAL &&
	       fabs(c->gap - gap) < TAC_CONTACTS_SAME_GAP;
}

#ifdef __cplusplus
}
#endif

#endif
