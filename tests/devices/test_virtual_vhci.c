// The USB/IP side of a virtual device, with the test in place of the kernel: headers as bytes, from the
// kernel's description of the protocol.
#include "devices/virtual_vhci.h"

#include "tests/support/echo_device.h"
#include "tests/support/logged.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <unity.h>

static echo_device echo;
static tac_virtual_usb *device;
static tac_virtual_vhci *vhci;
static int host;

void setUp(void)
{
	int ends[2];
	echo_init(&echo, "E1");
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_usb_create(&echo.base, &device));
	TEST_ASSERT_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_vhci_serve(device, ends[0], &vhci));
	host = ends[1];
}

void tearDown(void)
{
	tac_virtual_vhci_detach(&vhci);
	tac_virtual_usb_destroy(&device);
	if (host >= 0)
		close(host);
}

// CMD_SUBMIT: command, seqnum, devid, direction, ep; flags, length, start frame, packets, interval; setup.
static void submit(uint32_t sequence, uint32_t in, uint32_t endpoint, uint32_t flags, uint32_t length,
		   const uint8_t *setup, const void *bytes)
{
	uint32_t h[12] = {htonl(1),     htonl(sequence), 0, htonl(in), htonl(endpoint),
			  htonl(flags), htonl(length),   0, 0,         0};
	if (setup)
		memcpy(&h[10], setup, 8);
	TEST_ASSERT_EQUAL(sizeof h, write(host, h, sizeof h));
	if (in == 0 && length > 0)
		TEST_ASSERT_EQUAL(length, write(host, bytes, length));
}

static void unlink_urb(uint32_t sequence, uint32_t victim)
{
	uint32_t h[12] = {htonl(2), htonl(sequence), 0, 0, 0, htonl(victim)};
	TEST_ASSERT_EQUAL(sizeof h, write(host, h, sizeof h));
}

static void read_whole(void *bytes, size_t count)
{
	for (uint8_t *p = bytes; count > 0;) {
		ssize_t got = read(host, p, count);
		TEST_ASSERT_GREATER_THAN(0, got);
		p += got;
		count -= (size_t)got;
	}
}

static void expect(uint32_t command, uint32_t sequence, int32_t status, uint32_t actual, void *bytes)
{
	uint32_t h[12];
	read_whole(h, sizeof h);
	TEST_ASSERT_EQUAL(command, ntohl(h[0]));
	TEST_ASSERT_EQUAL(sequence, ntohl(h[1]));
	TEST_ASSERT_EQUAL(status, (int32_t)ntohl(h[5]));
	TEST_ASSERT_EQUAL(actual, ntohl(h[6]));
	if (bytes)
		read_whole(bytes, actual);
}

static void the_kernel_can_enumerate_the_device(void)
{
	uint8_t bytes[64];
	const uint8_t get_device[8] = {0x80, 6, 0, 1, 0, 0, 18, 0},
		      get_short[8] = {0x80, 6, 0, 1, 0, 0, 8, 0},
		      get_configuration[8] = {0x80, 6, 0, 2, 0, 0, 64, 0},
		      get_serial[8] = {0x80, 6, 3, 3, 9, 4, 64, 0},
		      get_languages[8] = {0x80, 6, 0, 3, 0, 0, 64, 0},
		      get_qualifier[8] = {0x80, 6, 0, 6, 0, 0, 10, 0},
		      set_configuration[8] = {0, 9, 1, 0, 0, 0, 0, 0}, which[8] = {0x80, 8, 0, 0, 0, 0, 1, 0};
	submit(1, 1, 0, 0, 18, get_device, NULL);
	expect(3, 1, 0, 18, bytes);
	TEST_ASSERT_EQUAL_MEMORY(echo_device_descriptor, bytes, 18);
	submit(2, 1, 0, 0, 8, get_short, NULL);
	expect(3, 2, 0, 8, bytes);
	submit(3, 1, 0, 0, 64, get_configuration, NULL);
	expect(3, 3, 0, 32, bytes);
	TEST_ASSERT_EQUAL_MEMORY(echo_configuration, bytes, 32);
	submit(4, 1, 0, 0, 64, get_serial, NULL);
	expect(3, 4, 0, 6, bytes);
	TEST_ASSERT_EQUAL_MEMORY("\6\3E\0001\0", bytes, 6);
	submit(5, 1, 0, 0, 64, get_languages, NULL);
	expect(3, 5, 0, 4, bytes);
	submit(6, 1, 0, 0, 10, get_qualifier, NULL);
	expect(3, 6, -EPIPE, 0, NULL);
	submit(7, 0, 0, 0, 0, set_configuration, NULL);
	expect(3, 7, 0, 0, NULL);
	submit(8, 1, 0, 0, 1, which, NULL);
	expect(3, 8, 0, 1, bytes);
	TEST_ASSERT_EQUAL(1, bytes[0]);
}

static void bulk_data_goes_out_and_comes_back(void)
{
	uint8_t bytes[256], message[128];
	for (int i = 0; i < 128; i++)
		message[i] = (uint8_t)i;
	submit(1, 1, 1, 0, 256, NULL, NULL); // IN is pending
	submit(2, 0, 2, 0, 100, NULL, message);
	uint32_t h[12];
	for (int i = 0; i < 2; i++) { // in either order
		read_whole(h, sizeof h);
		TEST_ASSERT_EQUAL(3, ntohl(h[0]));
		TEST_ASSERT_EQUAL(0, h[5]);
		TEST_ASSERT_EQUAL(100, ntohl(h[6]));
		if (ntohl(h[1]) == 1) {
			read_whole(bytes, 100);
			TEST_ASSERT_EQUAL_MEMORY(message, bytes, 100);
		}
	}
	submit(3, 0, 2, 0x40, 128, NULL, message); // two full packets and an empty one
	expect(3, 3, 0, 128, NULL);
	submit(4, 1, 1, 0, 256, NULL, NULL);
	expect(3, 4, 0, 128, bytes);
	TEST_ASSERT_EQUAL_MEMORY(message, bytes, 128);
}

static void a_transfer_is_unlinked_once(void)
{
	submit(1, 1, 1, 0, 64, NULL, NULL);
	unlink_urb(2, 1);
	expect(4, 2, -ECONNRESET, 0, NULL);
	unlink_urb(3, 1); // already ended
	expect(4, 3, 0, 0, NULL);
	submit(4, 0, 2, 0, 3, NULL, "abc");
	expect(3, 4, 0, 3, NULL);
	uint8_t bytes[64];
	submit(5, 1, 1, 0, 64, NULL, NULL);
	expect(3, 5, 0, 3, bytes);
}

static void await_end(void)
{
	for (int i = 0; i < 10000 && tac_virtual_vhci_attached(vhci); i++)
		usleep(1000);
	TEST_ASSERT_FALSE(tac_virtual_vhci_attached(vhci));
}

static void a_host_that_sends_an_invalid_command_is_disconnected(void)
{
	uint32_t invalid[12] = {htonl(77)};
	submit(1, 1, 1, 0, 64, NULL, NULL);
	TEST_ASSERT_EQUAL(sizeof invalid, write(host, invalid, sizeof invalid));
	await_end();
	tac_virtual_vhci_detach(&vhci);
}

static void a_host_that_sends_an_absurd_length_is_disconnected(void)
{
	uint32_t h[12] = {htonl(1), htonl(1), 0, 0, htonl(2), 0, htonl(0xFFFFFFF0U)};
	TEST_ASSERT_EQUAL(sizeof h, write(host, h, sizeof h));
	await_end();
}

static void a_host_that_disconnects_is_noticed(void)
{
	submit(1, 1, 1, 0, 64, NULL, NULL);
	close(host);
	host = -1;
	await_end();
}

static void detaching_closes_the_socket(void)
{
	submit(1, 1, 1, 0, 64, NULL, NULL);
	tac_virtual_vhci_detach(&vhci);
	struct pollfd p = {.fd = host, .events = POLLIN};
	TEST_ASSERT_EQUAL(1, poll(&p, 1, 10000));
	uint8_t rest[256];
	while (read(host, rest, sizeof rest) > 0)
		;
	TEST_ASSERT_NULL(vhci);
}

static void without_the_module_there_is_one_log_line(void)
{
	if (access("/sys/devices/platform/vhci_hcd.0", F_OK) == 0)
		TEST_IGNORE_MESSAGE("this kernel has vhci_hcd");
	tac_virtual_vhci *none;
	tac_log_set(keep_logged, NULL);
	TEST_ASSERT_EQUAL(TAC_ERROR_UNSUPPORTED, tac_virtual_vhci_attach(device, &none));
	tac_log_set(NULL, NULL);
	TEST_ASSERT_NULL(none);
	TEST_ASSERT_EQUAL_STRING("vhci: expected the kernel module vhci_hcd, found no "
				 "/sys/devices/platform/vhci_hcd.0; as root: modprobe vhci-hcd",
				 logged);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_kernel_can_enumerate_the_device);
	RUN_TEST(bulk_data_goes_out_and_comes_back);
	RUN_TEST(a_transfer_is_unlinked_once);
	RUN_TEST(a_host_that_sends_an_invalid_command_is_disconnected);
	RUN_TEST(a_host_that_sends_an_absurd_length_is_disconnected);
	RUN_TEST(a_host_that_disconnects_is_noticed);
	RUN_TEST(detaching_closes_the_socket);
	RUN_TEST(without_the_module_there_is_one_log_line);
	return UNITY_END();
}
