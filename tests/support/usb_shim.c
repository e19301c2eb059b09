#include "tests/support/usb_shim.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/usbdevice_fs.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SYSFS_TYPE 0x62656572
#define BUS        9
#define HANDLES    64
#define EVENTS     256

// A device in its port.
typedef struct port {
	tac_virtual_usb *device; // NULL: empty
	int address;
} port;

typedef struct handle handle;

// A transfer of libusb. The virtual transfer is the first member.
typedef struct pending {
	tac_virtual_urb urb;
	struct usbdevfs_urb *libusb_urb;
	handle *from;
	struct pending *next; // in `in_flight` or in `ended`
} pending;

struct handle {
	bool used;
	int fd, read_end; // of the pipe
	tac_virtual_usb *device;
	bool quiet; // the pipe is full
	bool gone;
	pending *in_flight, *ended; // ended: oldest first
};

static pthread_mutex_t shim = PTHREAD_MUTEX_INITIALIZER;
static port ports[USB_SHIM_DEVICES];
static handle handles[HANDLES];
static int last_address;
static bool is_muted, is_denied;

// ---- libudev ----

struct udev {
	int unused;
};
struct udev_device {
	int address;
	const char *action;
	char name[16], node[32], path[64];
};
struct udev_list_entry {
	char path[64];
	struct udev_list_entry *next;
};
struct udev_enumerate {
	struct udev_list_entry entries[USB_SHIM_DEVICES];
	int count;
};
struct udev_monitor {
	int fd; // eventfd that counts the events waiting
};

static struct {
	int address;
	const char *action;
} events[EVENTS];
static unsigned events_first, events_end;
static struct udev_monitor *monitor; // libusb has one

struct udev *udev_new(void);
struct udev *udev_unref(struct udev *udev);
struct udev_device *udev_device_new_from_syspath(struct udev *udev, const char *path);
struct udev_device *udev_device_unref(struct udev_device *device);
const char *udev_device_get_action(struct udev_device *device);
const char *udev_device_get_devnode(struct udev_device *device);
const char *udev_device_get_sysname(struct udev_device *device);
struct udev_enumerate *udev_enumerate_new(struct udev *udev);
struct udev_enumerate *udev_enumerate_unref(struct udev_enumerate *enumerate);
int udev_enumerate_add_match_property(struct udev_enumerate *enumerate, const char *key, const char *value);
int udev_enumerate_add_match_subsystem(struct udev_enumerate *enumerate, const char *subsystem);
int udev_enumerate_scan_devices(struct udev_enumerate *enumerate);
struct udev_list_entry *udev_enumerate_get_list_entry(struct udev_enumerate *enumerate);
struct udev_list_entry *udev_list_entry_get_next(struct udev_list_entry *entry);
const char *udev_list_entry_get_name(struct udev_list_entry *entry);
struct udev_monitor *udev_monitor_new_from_netlink(struct udev *udev, const char *name);
struct udev_monitor *udev_monitor_unref(struct udev_monitor *m);
int udev_monitor_filter_add_match_subsystem_devtype(struct udev_monitor *m, const char *subsystem,
						    const char *devtype);
int udev_monitor_enable_receiving(struct udev_monitor *m);
int udev_monitor_get_fd(struct udev_monitor *m);
struct udev_device *udev_monitor_receive_device(struct udev_monitor *m);

struct udev *udev_new(void)
{
	return calloc(1, sizeof(struct udev));
}

struct udev *udev_unref(struct udev *udev)
{
	free(udev);
	return NULL;
}

static struct udev_device *make_device(int address, const char *action)
{
	struct udev_device *d = calloc(1, sizeof *d);
	TAC_ASSERT(d);
	d->address = address;
	d->action = action;
	snprintf(d->name, sizeof d->name, "%d-%d", BUS, address);
	snprintf(d->node, sizeof d->node, "/dev/bus/usb/%03d/%03d", BUS, address);
	return d;
}

struct udev_device *udev_device_new_from_syspath(struct udev *udev, const char *path)
{
	(void)udev;
	const char *dash = strrchr(path, '-');
	return make_device(dash ? atoi(dash + 1) : 0, NULL);
}

struct udev_device *udev_device_unref(struct udev_device *device)
{
	free(device);
	return NULL;
}

const char *udev_device_get_action(struct udev_device *device)
{
	return device->action;
}

const char *udev_device_get_devnode(struct udev_device *device)
{
	return device->node;
}

const char *udev_device_get_sysname(struct udev_device *device)
{
	return device->name;
}

struct udev_enumerate *udev_enumerate_new(struct udev *udev)
{
	(void)udev;
	return calloc(1, sizeof(struct udev_enumerate));
}

struct udev_enumerate *udev_enumerate_unref(struct udev_enumerate *enumerate)
{
	free(enumerate);
	return NULL;
}

int udev_enumerate_add_match_property(struct udev_enumerate *enumerate, const char *key, const char *value)
{
	(void)enumerate;
	(void)key;
	(void)value;
	return 0;
}

int udev_enumerate_add_match_subsystem(struct udev_enumerate *enumerate, const char *subsystem)
{
	return udev_enumerate_add_match_property(enumerate, "SUBSYSTEM", subsystem);
}

int udev_enumerate_scan_devices(struct udev_enumerate *enumerate)
{
	pthread_mutex_lock(&shim);
	for (int i = 0; i < USB_SHIM_DEVICES; i++)
		if (ports[i].device) {
			struct udev_list_entry *entry = &enumerate->entries[enumerate->count++];
			snprintf(entry->path, sizeof entry->path, "/sys/bus/usb/devices/%d-%d", BUS,
				 ports[i].address);
			if (enumerate->count > 1)
				entry[-1].next = entry;
		}
	pthread_mutex_unlock(&shim);
	return 0;
}

struct udev_list_entry *udev_enumerate_get_list_entry(struct udev_enumerate *enumerate)
{
	return enumerate->count > 0 ? enumerate->entries : NULL;
}

struct udev_list_entry *udev_list_entry_get_next(struct udev_list_entry *entry)
{
	return entry->next;
}

const char *udev_list_entry_get_name(struct udev_list_entry *entry)
{
	return entry->path;
}

struct udev_monitor *udev_monitor_new_from_netlink(struct udev *udev, const char *name)
{
	(void)udev;
	(void)name;
	struct udev_monitor *m = calloc(1, sizeof *m);
	TAC_ASSERT(m);
	m->fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	pthread_mutex_lock(&shim);
	monitor = m;
	events_first = events_end;
	pthread_mutex_unlock(&shim);
	return m;
}

struct udev_monitor *udev_monitor_unref(struct udev_monitor *m)
{
	pthread_mutex_lock(&shim);
	monitor = NULL;
	pthread_mutex_unlock(&shim);
	close(m->fd);
	free(m);
	return NULL;
}

int udev_monitor_filter_add_match_subsystem_devtype(struct udev_monitor *m, const char *subsystem,
						    const char *devtype)
{
	(void)m;
	(void)subsystem;
	(void)devtype;
	return 0;
}

int udev_monitor_enable_receiving(struct udev_monitor *m)
{
	(void)m;
	return 0;
}

int udev_monitor_get_fd(struct udev_monitor *m)
{
	return m->fd;
}

struct udev_device *udev_monitor_receive_device(struct udev_monitor *m)
{
	struct udev_device *device = NULL;
	uint64_t one;
	pthread_mutex_lock(&shim);
	if (read(m->fd, &one, sizeof one) == sizeof one && events_first != events_end) {
		device = make_device(events[events_first % EVENTS].address,
				     events[events_first % EVENTS].action);
		events_first++;
	}
	pthread_mutex_unlock(&shim);
	return device;
}

// With the lock held.
static void send_event(int address, const char *action)
{
	const uint64_t one = 1;
	if (!monitor || is_muted)
		return;
	TAC_ASSERT(events_end - events_first < EVENTS);
	events[events_end % EVENTS].address = address;
	events[events_end % EVENTS].action = action;
	events_end++;
	ssize_t written = write(monitor->fd, &one, sizeof one);
	TAC_ASSERT(written == sizeof one);
	(void)written;
}

// ---- the kernel's files ----

static port *port_at(int address)
{
	for (int i = 0; i < USB_SHIM_DEVICES; i++)
		if (ports[i].device && ports[i].address == address)
			return &ports[i];
	return NULL;
}

static int file_of(const void *bytes, size_t count)
{
	int fd = memfd_create("usb_shim", MFD_CLOEXEC);
	if (fd >= 0 && (write(fd, bytes, count) != (ssize_t)count || lseek(fd, 0, SEEK_SET) != 0))
		abort();
	return fd;
}

// With the lock held.
static int open_attribute(const port *p, const char *name)
{
	const tac_virtual_model *model = tac_virtual_usb_model(p->device);
	char text[16] = "";
	if (strcmp(name, "descriptors") == 0) {
		uint8_t all[4096 + 18];
		size_t count = (size_t)model->configuration_descriptor[2] |
			       (size_t)model->configuration_descriptor[3] << 8;
		memcpy(all, model->device_descriptor, 18);
		memcpy(all + 18, model->configuration_descriptor, count);
		return file_of(all, 18 + count);
	}
	if (strcmp(name, "busnum") == 0)
		snprintf(text, sizeof text, "%d\n", BUS);
	else if (strcmp(name, "devnum") == 0)
		snprintf(text, sizeof text, "%d\n", p->address);
	else if (strcmp(name, "speed") == 0)
		snprintf(text, sizeof text, "%d\n", model->high_speed ? 480 : 12);
	else if (strcmp(name, "bConfigurationValue") == 0)
		snprintf(text, sizeof text, "1\n");
	else
		return errno = ENOENT, -1;
	return file_of(text, strlen(text));
}

// With the lock held.
static int open_node(const port *p)
{
	if (is_denied)
		return errno = EACCES, -1;
	int ends[2];
	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
		return -1;
	handle *h = NULL;
	for (int i = 0; i < HANDLES && !h; i++)
		h = handles[i].used ? NULL : &handles[i];
	TAC_ASSERT(h);
	*h = (handle){.used = true, .fd = ends[1], .read_end = ends[0], .device = p->device, .quiet = true};
	if (fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0 || write(ends[1], "", 1) != 1)
		abort();
	return h->fd;
}

// Whether the shim handles `path`; then *out_fd is the result of open.
static bool open_emulated(const char *path, int *out_fd)
{
	int bus, address, used = 0;
	port *p;
	if (sscanf(path, "/dev/bus/usb/%d/%d", &bus, &address) == 2) {
		pthread_mutex_lock(&shim);
		p = bus == BUS ? port_at(address) : NULL;
		*out_fd = p != NULL ? open_node(p) : (errno = ENOENT, -1);
		pthread_mutex_unlock(&shim);
		return true;
	}
	if (strncmp(path, "/sys/bus/usb/devices/", 21) == 0) {
		bool named = sscanf(path + 21, "%d-%d/%n", &bus, &address, &used) == 2 && used > 0;
		pthread_mutex_lock(&shim);
		p = named && bus == BUS ? port_at(address) : NULL;
		*out_fd = p != NULL ? open_attribute(p, path + 21 + used) : (errno = ENOENT, -1);
		pthread_mutex_unlock(&shim);
		return true;
	}
	return false;
}

int __open_2(const char *path, int flags);

int open(const char *path, int flags, ...)
{
	int fd, mode = 0;
	if (open_emulated(path, &fd))
		return fd;
	if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
		va_list rest;
		va_start(rest, flags);
		mode = va_arg(rest, int);
		va_end(rest);
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int statfs(const char *path, struct statfs *out)
{
	if (strcmp(path, "/sys") != 0)
		return (int)syscall(SYS_statfs, path, out);
	memset(out, 0, sizeof *out);
	out->f_type = SYSFS_TYPE;
	return 0;
}

// ---- transfers ----

static void unlink_in_flight(handle *h, const pending *p)
{
	for (pending **link = &h->in_flight; *link; link = &(*link)->next)
		if (*link == p) {
			*link = p->next;
			return;
		}
	TAC_ASSERT(false);
}

static void on_complete(tac_virtual_urb *urb)
{
	pending *p = (pending *)urb;
	handle *h = p->from;
	char byte;
	pthread_mutex_lock(&shim);
	unlink_in_flight(h, p);
	p->next = NULL;
	pending **link = &h->ended;
	while (*link)
		link = &(*link)->next;
	*link = p;
	if (h->quiet && read(h->read_end, &byte, 1) != 1)
		abort();
	h->quiet = false;
	pthread_mutex_unlock(&shim);
}

static int submit(handle *h, struct usbdevfs_urb *libusb_urb)
{
	pthread_mutex_lock(&shim);
	bool gone = h->gone;
	pending *p = gone ? NULL : calloc(1, sizeof *p);
	if (p) {
		p->libusb_urb = libusb_urb;
		p->from = h;
		p->urb = (tac_virtual_urb){
			.endpoint = libusb_urb->endpoint,
			.zero_packet = (libusb_urb->flags & USBDEVFS_URB_ZERO_PACKET) != 0,
			.bytes = libusb_urb->buffer,
			.count = (uint32_t)libusb_urb->buffer_length,
			.complete = on_complete,
		};
		if (libusb_urb->type == USBDEVFS_URB_TYPE_CONTROL) {
			memcpy(p->urb.setup, libusb_urb->buffer, 8);
			p->urb.bytes += 8;
			p->urb.count -= 8;
		}
		p->next = h->in_flight;
		h->in_flight = p;
	}
	tac_virtual_usb *device = h->device;
	pthread_mutex_unlock(&shim);
	if (!p)
		return errno = gone ? ENODEV : ENOMEM, -1;
	tac_virtual_usb_submit(device, &p->urb);
	return 0;
}

static int reap(handle *h, void **out_urb)
{
	pthread_mutex_lock(&shim);
	pending *p = h->ended;
	int error = p != NULL ? 0 : h->gone ? ENODEV : EAGAIN;
	if (p) {
		h->ended = p->next;
		p->libusb_urb->status = p->urb.status;
		p->libusb_urb->actual_length = (int)p->urb.done;
		*out_urb = p->libusb_urb;
		if (!h->ended && !h->gone) {
			if (write(h->fd, "", 1) != 1)
				abort();
			h->quiet = true;
		}
	}
	pthread_mutex_unlock(&shim);
	free(p);
	return error == 0 ? 0 : (errno = error, -1);
}

static int discard(handle *h, const void *libusb_urb)
{
	pthread_mutex_lock(&shim);
	pending *p = h->in_flight;
	while (p && p->libusb_urb != libusb_urb)
		p = p->next;
	tac_virtual_usb *device = h->device;
	pthread_mutex_unlock(&shim);
	// If it completes meanwhile, cancelling only compares pointers. libusb reaps on one thread at a time.
	bool cancelled = p != NULL && tac_virtual_usb_cancel(device, &p->urb);
	return cancelled ? 0 : (errno = EINVAL, -1);
}

static handle *handle_of(int fd)
{
	handle *found = NULL;
	pthread_mutex_lock(&shim);
	for (int i = 0; i < HANDLES && !found; i++)
		found = handles[i].used && handles[i].fd == fd ? &handles[i] : NULL;
	pthread_mutex_unlock(&shim);
	return found;
}

static int usb_ioctl(handle *h, unsigned long request, void *argument)
{
	pthread_mutex_lock(&shim);
	bool gone = h->gone;
	pthread_mutex_unlock(&shim);
	if (gone && request != USBDEVFS_REAPURBNDELAY && request != USBDEVFS_DISCARDURB)
		return errno = ENODEV, -1;
	switch (request) {
	case USBDEVFS_GET_CAPABILITIES:
		*(uint32_t *)argument = USBDEVFS_CAP_ZERO_PACKET | USBDEVFS_CAP_NO_PACKET_SIZE_LIM |
					USBDEVFS_CAP_BULK_SCATTER_GATHER | USBDEVFS_CAP_REAP_AFTER_DISCONNECT;
		return 0;
	case USBDEVFS_CLAIMINTERFACE:
	case USBDEVFS_DISCONNECT_CLAIM:
	case USBDEVFS_RELEASEINTERFACE:
	case USBDEVFS_SETCONFIGURATION:
	case USBDEVFS_SETINTERFACE:
		return 0;
	case USBDEVFS_GETDRIVER: // no kernel driver uses it
	case USBDEVFS_IOCTL:
		return errno = ENODATA, -1;
	case USBDEVFS_CLEAR_HALT:
		tac_virtual_usb_clear_halt(h->device, (uint8_t) * (unsigned *)argument);
		return 0;
	case USBDEVFS_RESET:
		tac_virtual_usb_reset(h->device);
		return 0;
	case USBDEVFS_SUBMITURB:
		return submit(h, argument);
	case USBDEVFS_REAPURBNDELAY:
		return reap(h, argument);
	case USBDEVFS_DISCARDURB:
		return discard(h, argument);
	default:
		return errno = ENOTTY, -1;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	va_start(rest, request);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	handle *h = (request >> 8 & 0xFF) == 'U' ? handle_of(fd) : NULL;
	return h != NULL ? usb_ioctl(h, request, argument) : (int)syscall(SYS_ioctl, fd, request, argument);
}

int close(int fd)
{
	handle *h = handle_of(fd);
	if (h) {
		// libusb waits for its transfers before it closes; one that is left would write to freed
		// memory.
		pthread_mutex_lock(&shim);
		TAC_ASSERT(!h->in_flight);
		while (h->ended) {
			pending *p = h->ended;
			h->ended = p->next;
			free(p);
		}
		if (h->read_end >= 0)
			syscall(SYS_close, h->read_end);
		h->used = false;
		pthread_mutex_unlock(&shim);
	}
	return (int)syscall(SYS_close, fd);
}

// ---- the test's side ----

void usb_shim_plug(tac_virtual_usb *device)
{
	tac_virtual_usb_plug(device, true);
	pthread_mutex_lock(&shim);
	port *p = NULL;
	for (int i = 0; i < USB_SHIM_DEVICES && !p; i++)
		p = ports[i].device == NULL ? &ports[i] : NULL;
	TAC_ASSERT(p);
	last_address = last_address % 127 + 1;
	*p = (port){.device = device, .address = last_address};
	send_event(p->address, "add");
	pthread_mutex_unlock(&shim);
}

void usb_shim_unplug(tac_virtual_usb *device)
{
	pthread_mutex_lock(&shim);
	for (int i = 0; i < USB_SHIM_DEVICES; i++)
		if (ports[i].device == device) {
			ports[i].device = NULL;
			send_event(ports[i].address, "remove");
		}
	for (int i = 0; i < HANDLES; i++)
		if (handles[i].used && handles[i].device == device)
			handles[i].gone = true;
	pthread_mutex_unlock(&shim);
	tac_virtual_usb_plug(device, false); // ends queued transfers: on_complete takes the lock
	pthread_mutex_lock(&shim);
	for (int i = 0; i < HANDLES; i++)
		if (handles[i].used && handles[i].device == device && handles[i].read_end >= 0) {
			syscall(SYS_close, handles[i].read_end);
			handles[i].read_end = -1;
			handles[i].quiet = false;
		}
	pthread_mutex_unlock(&shim);
}

void usb_shim_mute(bool muted)
{
	pthread_mutex_lock(&shim);
	is_muted = muted;
	pthread_mutex_unlock(&shim);
}

void usb_shim_deny(bool denied)
{
	pthread_mutex_lock(&shim);
	is_denied = denied;
	pthread_mutex_unlock(&shim);
}
