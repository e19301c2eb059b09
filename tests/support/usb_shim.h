// USB shim: a stand-in for the kernel's USB, so that unmodified libusb talks to virtual devices
// (devices/virtual_usb.h) inside the test's own process, under the sanitizers too. Linked into a test, it
// takes the place of what libusb calls: libudev, and open, close, ioctl and statfs as far as they concern
// USB; all other files go to the system. A test links tactus_usb_shim (tactus_usb_test in
// tests/CMakeLists.txt).
//
// An open device is the write end of a pipe with room for one byte: it is full, and so not writable, until a
// transfer has completed, which is what libusb polls for; with its read end closed it reports an error, which
// is what an unplugged device does.
#ifndef TAC_TESTS_USB_SHIM_H
#define TAC_TESTS_USB_SHIM_H

#include "devices/virtual_usb.h"

// Devices plugged in at once, at most.
#define USB_SHIM_DEVICES 8

// Plugs a device in, under a new address as the kernel does, and sends the hot-plug event. The device must be
// unplugged before it is destroyed.
void usb_shim_plug(tac_virtual_usb *device);

// Pulls it out: transfers end, the descriptors report errors, the event is sent.
void usb_shim_unplug(tac_virtual_usb *device);

// While true, hot-plug events are not sent, as on a system without udev.
void usb_shim_mute(bool muted);

// While true, opening a device fails with EACCES.
void usb_shim_deny(bool denied);

#endif
