// USB shim: a stand-in for the kernel's USB. Unmodified libusb talks to virtual devices
// (devices/virtual_usb.h) inside the test's process, also under the sanitizers. Linked into a test, it
// replaces what libusb calls: libudev, and open, close, ioctl and statfs for USB paths; all other files go to
// the system. A test links tactus_usb_shim (tactus_usb_test in tests/CMakeLists.txt).
//
// An open device is the write end of a pipe with room for one byte. The pipe is full, so not writable, until
// a transfer has completed: that is what libusb polls for. With its read end closed it reports an error, as
// an unplugged device does.
#ifndef TAC_TESTS_SUPPORT_USB_SHIM_H
#define TAC_TESTS_SUPPORT_USB_SHIM_H

#include "devices/virtual_usb.h"

// The most devices that are plugged in at once.
#define USB_SHIM_DEVICES 8

// Plugs a device in under a new address, as the kernel does, and sends the hot-plug event. The device must be
// unplugged before it is destroyed.
void usb_shim_plug(tac_virtual_usb *device);

// Unplugs it: transfers end, the descriptors report errors, the event is sent.
void usb_shim_unplug(tac_virtual_usb *device);

// While true, hot-plug events are not sent, as on a system without udev.
void usb_shim_mute(bool muted);

// While true, opening a device fails with EACCES.
void usb_shim_deny(bool denied);

#endif
