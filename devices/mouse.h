// Mouse: the scales of the driver "mouse" (devices/registry.h), for programs that feed it. An ordinary mouse,
// read through the kernel's event interface, moves the tool: its motion in x and y, its wheel along z. Its
// buttons are the device's buttons. It exerts no force, and it does not grab the mouse: the pointer on the
// screen moves, too.
//
// "mouse:FILE" also takes a pipe of the kernel's `struct input_event`, as the viewer writes it. There REL_Z
// is a count along z.
#ifndef TAC_DEVICES_MOUSE_H
#define TAC_DEVICES_MOUSE_H

#define TAC_MOUSE_M_PER_COUNT 0.1e-3 // the workspace is a hand's width of mouse mat
#define TAC_MOUSE_M_PER_NOTCH 2e-3   // of the wheel
#define TAC_MOUSE_REACH_M     0.06   // half the edge of the workspace, a cube around the start

#endif
