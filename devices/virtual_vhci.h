// Virtual VHCI: attaches a virtual USB device (devices/virtual_usb.h) to the running kernel, as if it were
// plugged in. Linux has a host controller for remote devices, vhci_hcd: it takes one end of a socket and
// speaks the URB part of the USB/IP protocol on it (Documentation/usb/usbip_protocol.rst in the kernel's
// sources). This module is the other end.
#ifndef TAC_DEVICES_VIRTUAL_VHCI_H
#define TAC_DEVICES_VIRTUAL_VHCI_H

#include "devices/virtual_usb.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_virtual_vhci tac_virtual_vhci;

// Plugs the device into a free port of vhci_hcd. On failure *out_vhci is NULL and one line is logged:
// TAC_ERROR_UNSUPPORTED without the module, TAC_ERROR_IO without permission or a free port. Thread: setup.
tac_result tac_virtual_vhci_attach(tac_virtual_usb *device, tac_virtual_vhci **out_vhci);

// Serves the protocol on a stream socket, of which it takes ownership. For other hosts than this kernel, and
// for tests. Thread: setup.
tac_result tac_virtual_vhci_serve(tac_virtual_usb *device, int socket, tac_virtual_vhci **out_vhci);

// Unplugs the device, frees *vhci and nulls the pointer; NULL in it is allowed. The device can be attached
// again. Thread: setup.
void tac_virtual_vhci_detach(tac_virtual_vhci **vhci);

// The port of vhci_hcd, or -1.
// Thread: any.
int tac_virtual_vhci_port(const tac_virtual_vhci *vhci);

// False after the host closed the socket or sent an invalid message.
// Thread: any.
bool tac_virtual_vhci_attached(const tac_virtual_vhci *vhci);

#ifdef __cplusplus
}
#endif

#endif
