// devices/usb over the real libusb, with virtual devices in this process.
#include "devices/usb/usb.h"

#include "rt/clock.h"
#include "tests/support/allocations.h"
#include "tests/support/echo_device.h"
#include "tests/support/logged.h"
#include "tests/support/usb_shim.h"

#include <pthread.h>
#include <unity.h>

#define FAR_NS (10 * TAC_NS_PER_S) // a deadline that only a hanging test reaches

static echo_device echo, twin;
static tac_virtual_usb *device, *second;
static tac_usb_def def;
static tac_usb *usb;
static const uint8_t *received; // by receive()
static uint32_t received_count;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
	echo_init(&echo, "E1");
	echo_init(&twin, "E2");
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_usb_create(&echo.base, &device));
	TEST_ASSERT_EQUAL(TAC_OK, tac_virtual_usb_create(&twin.base, &second));
	usb_shim_plug(device);
	usb_shim_plug(second);
	def = tac_usb_def_default();
	def.vendor_id = ECHO_VENDOR;
	def.product_id = ECHO_PRODUCT;
	def.serial = "E1";
	def.out_endpoint = ECHO_OUT;
	def.in_endpoint = ECHO_IN;
	def.out_bytes = 32768;
	def.in_bytes = 32768;
	def.end_with_short = true;
}

void tearDown(void)
{
	tac_usb_close(&usb);
	usb_shim_mute(false);
	usb_shim_deny(false);
	usb_shim_unplug(device);
	usb_shim_unplug(second);
	tac_virtual_usb_destroy(&device);
	tac_virtual_usb_destroy(&second);
	tac_log_set(NULL, NULL);
}

static void open_usb(void)
{
	TEST_ASSERT_EQUAL_MESSAGE(TAC_OK, tac_usb_open(&def, &usb), logged);
}

static tac_usb_status send(const void *bytes, uint32_t count)
{
	void *buffer = tac_usb_buffer(usb);
	if (!buffer)
		return TAC_USB_FULL;
	memcpy(buffer, bytes, count);
	return tac_usb_send(usb, count);
}

static tac_usb_status receive(int64_t within_ns)
{
	return tac_usb_receive(usb, tac_clock_now_ns() + within_ns, &received, &received_count);
}

static void expect_echo(const uint8_t *bytes, uint32_t count)
{
	TEST_ASSERT_EQUAL(TAC_USB_OK, send(bytes, count));
	TEST_ASSERT_EQUAL(TAC_USB_OK, receive(FAR_NS));
	TEST_ASSERT_EQUAL(count, received_count);
	if (count > 0)
		TEST_ASSERT_EQUAL_MEMORY(bytes, received, count);
}

static void messages_of_every_length_come_back_whole(void)
{
	static uint8_t bytes[30000];
	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	open_usb();
	const uint32_t lengths[] = {1, 2, 63, 64, 65, 127, 128, 129, 640, 4096, 16384, 16385, 30000, 0};
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		expect_echo(bytes, lengths[i]);
	tac_usb_counters counters = tac_usb_counters_read(usb);
	TEST_ASSERT_EQUAL(14, counters.sent);
	TEST_ASSERT_EQUAL(14, counters.received);
	TEST_ASSERT_EQUAL(0, counters.failed + counters.dropped);
	TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_first_error(usb));
	TEST_ASSERT_EQUAL_STRING("E1", tac_usb_serial(usb));
}

static void a_receive_waits_until_its_deadline_and_loses_no_message(void)
{
	open_usb();
	int64_t deadline_ns = tac_clock_now_ns() + 3 * TAC_NS_PER_MS;
	TEST_ASSERT_EQUAL(TAC_USB_TIMEOUT, tac_usb_receive(usb, deadline_ns, &received, &received_count));
	TEST_ASSERT_TRUE(tac_clock_now_ns() >= deadline_ns);
	TEST_ASSERT_EQUAL(TAC_USB_TIMEOUT, tac_usb_receive(usb, 0, &received, &received_count));
	tac_virtual_usb_inject(device, ECHO_IN, TAC_VIRTUAL_FAULT_SILENCE, 150 * TAC_NS_PER_MS);
	TEST_ASSERT_EQUAL(TAC_USB_OK, send("late", 4));
	TEST_ASSERT_EQUAL(TAC_USB_TIMEOUT, receive(TAC_NS_PER_MS));
	TEST_ASSERT_EQUAL(TAC_USB_OK, receive(FAR_NS));
	TEST_ASSERT_EQUAL_MEMORY("late", received, 4);
	TEST_ASSERT_EQUAL(1, tac_virtual_usb_fault_count(device));
}

static void control_requests_move_data_both_ways_and_may_be_refused(void)
{
	uint16_t number = 0, done = 9;
	open_usb();
	TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_control(usb, 0x40, 7, 0x1234, 0, NULL, 0, 1000, &done));
	TEST_ASSERT_EQUAL(0, done);
	TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_control(usb, 0xC0, 7, 0, 0, &number, 2, 1000, &done));
	TEST_ASSERT_EQUAL_HEX(0x1234, number);
	TEST_ASSERT_EQUAL(2, done);
	number = 0xABCD;
	TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_control(usb, 0x40, 8, 0, 0, &number, 2, 1000, NULL));
	TEST_ASSERT_EQUAL_HEX(0xABCD, echo.number);
	TEST_ASSERT_EQUAL(TAC_USB_STALL, tac_usb_control(usb, 0x40, 99, 0, 0, NULL, 0, 1000, NULL));
	tac_virtual_usb_inject(device, 0, TAC_VIRTUAL_FAULT_SILENCE, 0);
	TEST_ASSERT_EQUAL(TAC_USB_TIMEOUT, tac_usb_control(usb, 0x40, 7, 1, 0, NULL, 0, 20, NULL));
	tac_virtual_usb_inject(device, 0, TAC_VIRTUAL_FAULT_NONE, 0);
	TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_control(usb, 0x40, 7, 2, 0, NULL, 0, 1000, NULL));
	TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_first_error(usb));
	usb_shim_unplug(device);
	TEST_ASSERT_EQUAL(TAC_USB_LOST, tac_usb_control(usb, 0x40, 7, 3, 0, NULL, 0, 1000, NULL));
	TEST_ASSERT_EQUAL(2, echo.number);
}

static void a_device_is_opened_by_its_serial_number(void)
{
	uint16_t number = 0;
	def.serial = "E2";
	open_usb();
	TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_control(usb, 0x40, 7, 77, 0, NULL, 0, 1000, &number));
	TEST_ASSERT_EQUAL(77, twin.number);
	TEST_ASSERT_EQUAL(0, echo.number);
	tac_usb_close(&usb);
	TEST_ASSERT_NULL(usb);
	def.serial = "E3";
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_usb_open(&def, &usb));
	TEST_ASSERT_NULL(usb);
	TEST_ASSERT_EQUAL_STRING(
		"usb: expected a device 1209:0002 with serial number E3, found 2 with these ids "
		"among 2 USB devices",
		logged);
	TEST_ASSERT_EQUAL(1, logged_lines);
}

static void all_devices_are_listed(void)
{
	tac_usb_device devices[4];
	TEST_ASSERT_EQUAL(2, tac_usb_list(0, 0, devices, 4));
	int first = strcmp(devices[0].serial, "E1") == 0 ? 0 : 1; // libusb does not promise an order
	TEST_ASSERT_EQUAL_STRING("E1", devices[first].serial);
	TEST_ASSERT_EQUAL_STRING("E2", devices[1 - first].serial);
	TEST_ASSERT_EQUAL_STRING("Echo", devices[1].product);
	TEST_ASSERT_TRUE(devices[0].accessible);
	TEST_ASSERT_EQUAL(2, tac_usb_list(ECHO_VENDOR, ECHO_PRODUCT, devices, 1));
	TEST_ASSERT_EQUAL(0, tac_usb_list(ECHO_VENDOR, 9, devices, 4));
	usb_shim_deny(true);
	TEST_ASSERT_EQUAL(2, tac_usb_list(ECHO_VENDOR, 0, devices, 4));
	TEST_ASSERT_FALSE(devices[0].accessible);
}

static void missing_permission_logs_the_udev_rule_to_install(void)
{
	usb_shim_deny(true);
	TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_usb_open(&def, &usb));
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, "permission denied"));
	TEST_ASSERT_NOT_NULL(strstr(logged, "/etc/udev/rules.d/70-tactus.rules"));
	TEST_ASSERT_NOT_NULL(strstr(logged, "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"1209\", "
					    "ATTR{idProduct}==\"0002\", MODE=\"0660\", TAG+=\"uaccess\""));
}

static void invalid_definitions_are_refused(void)
{
	tac_usb_def bad = def;
	bad.out_count = TAC_USB_TRANSFERS_MAX + 1;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_usb_open(&bad, &usb));
	bad = def;
	bad.in_endpoint = 0x01;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_usb_open(&bad, &usb));
	bad = def;
	bad.in_backlog = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_usb_open(&bad, &usb));
	bad = def;
	bad.product_id = 0; // would match any device
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_usb_open(&bad, &usb));
	TEST_ASSERT_EQUAL(4, logged_lines);
}

static void a_stall_ends_the_connection_and_opening_again_clears_it(void)
{
	const uint8_t endpoints[] = {ECHO_IN, ECHO_OUT};
	def.clear_halts = true;
	for (int i = 0; i < 2; i++) {
		open_usb();
		tac_virtual_usb_inject(device, endpoints[i], TAC_VIRTUAL_FAULT_STALL, 0);
		send("x", 1);
		TEST_ASSERT_EQUAL(TAC_USB_STALL, receive(FAR_NS));
		TEST_ASSERT_EQUAL(TAC_USB_STALL, tac_usb_first_error(usb));
		TEST_ASSERT_NOT_NULL(tac_usb_buffer(usb));
		TEST_ASSERT_EQUAL(TAC_USB_STALL, tac_usb_send(usb, 1));
		TEST_ASSERT_GREATER_THAN(0, tac_usb_counters_read(usb).failed);
		tac_usb_close(&usb);
		tac_virtual_usb_reset(device);
		open_usb();
		expect_echo((const uint8_t *)"again", 5);
		tac_usb_close(&usb);
	}
}

static void a_halt_that_is_not_cleared_stays(void)
{
	open_usb();
	tac_virtual_usb_inject(device, ECHO_IN, TAC_VIRTUAL_FAULT_STALL, 0);
	TEST_ASSERT_EQUAL(TAC_USB_STALL, receive(FAR_NS));
	tac_usb_close(&usb);
	open_usb();
	TEST_ASSERT_EQUAL(TAC_USB_STALL, receive(FAR_NS));
}

static void bus_errors_and_overflow_end_the_connection(void)
{
	open_usb();
	tac_virtual_usb_inject(device, ECHO_IN, TAC_VIRTUAL_FAULT_BUS_ERROR, 0);
	TEST_ASSERT_EQUAL(TAC_USB_ERROR, receive(FAR_NS));
	tac_usb_close(&usb);
	def.in_bytes = 100; // not a multiple of the packet size: the second packet does not fit
	open_usb();
	static const uint8_t message[200];
	TEST_ASSERT_EQUAL(TAC_USB_OK, send(message, 200));
	TEST_ASSERT_EQUAL(TAC_USB_OVERFLOW, receive(FAR_NS));
}

static void short_and_corrupt_transfers_are_received_unchanged(void)
{
	static const uint8_t message[100];
	open_usb();
	tac_virtual_usb_inject(device, ECHO_IN, TAC_VIRTUAL_FAULT_SHORT, 0);
	send(message, 100);
	TEST_ASSERT_EQUAL(TAC_USB_OK, receive(FAR_NS));
	TEST_ASSERT_EQUAL(50, received_count);
	tac_virtual_usb_inject(device, ECHO_OUT, TAC_VIRTUAL_FAULT_SHORT, 0);
	send(message, 100);
	TEST_ASSERT_EQUAL(TAC_USB_OK, receive(FAR_NS));
	TEST_ASSERT_EQUAL(50, received_count);
	for (int i = 0; i < 2; i++) {
		tac_virtual_usb_inject(device, i == 0 ? ECHO_IN : ECHO_OUT, TAC_VIRTUAL_FAULT_CORRUPT, 0);
		send(message, 100);
		TEST_ASSERT_EQUAL(TAC_USB_OK, receive(FAR_NS));
		TEST_ASSERT_EQUAL(100, received_count);
		// Two flips of one bit cancel out, but not with this generator's first numbers.
		TEST_ASSERT_NOT_EQUAL(0, memcmp(message, received, 100));
	}
	TEST_ASSERT_EQUAL(4, tac_virtual_usb_fault_count(device));
	TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_first_error(usb));
}

static void a_device_that_takes_nothing_fills_the_buffers_and_times_out(void)
{
	def.out_limit_ms = 300;
	open_usb();
	tac_virtual_usb_inject(device, ECHO_OUT, TAC_VIRTUAL_FAULT_SILENCE, 0);
	for (int i = 0; i < def.out_count; i++)
		TEST_ASSERT_EQUAL(TAC_USB_OK, send("stuck", 5));
	TEST_ASSERT_NULL(tac_usb_buffer(usb));
	TEST_ASSERT_EQUAL(TAC_USB_TIMEOUT, receive(FAR_NS));
	TEST_ASSERT_EQUAL(TAC_USB_TIMEOUT, tac_usb_first_error(usb));
	TEST_ASSERT_EQUAL(0, tac_usb_counters_read(usb).sent);
}

static void unread_messages_are_dropped_and_counted(void)
{
	uint8_t i;
	def.in_count = 2;
	def.in_backlog = 3;
	open_usb();
	for (i = 0; i < 10; i++) {
		while (send(&i, 1) == TAC_USB_FULL)
			;
		while (tac_usb_counters_read(usb).received <= i)
			;
	}
	TEST_ASSERT_EQUAL(7, tac_usb_counters_read(usb).dropped);
	for (i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL(TAC_USB_OK, receive(0));
		TEST_ASSERT_EQUAL(i, received[0]);
	}
	TEST_ASSERT_EQUAL(TAC_USB_TIMEOUT, receive(0));
	expect_echo((const uint8_t *)"still here", 10);
}

static void *unplug_later(void *unused)
{
	(void)unused;
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 5 * TAC_NS_PER_MS);
	usb_shim_unplug(device);
	return NULL;
}

static void unplugging_ends_a_wait_and_plugging_in_is_noticed(void)
{
	def.serial = NULL;
	usb_shim_unplug(second);
	for (int i = 0; i < 4; i++) {
		usb_shim_mute(i % 2 == 1); // with and without udev
		open_usb();
		expect_echo((const uint8_t *)"hello", 5);
		uint16_t number = 1;
		TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_control(usb, 0xC0, 7, 0, 0, &number, 2, 1000, NULL));
		TEST_ASSERT_EQUAL(0, number); // without power the device has lost it
		TEST_ASSERT_EQUAL(TAC_USB_OK, tac_usb_control(usb, 0x40, 7, 5, 0, NULL, 0, 1000, NULL));
		pthread_t thread;
		pthread_create(&thread, NULL, unplug_later, NULL);
		TEST_ASSERT_EQUAL(TAC_USB_LOST, receive(FAR_NS));
		pthread_join(thread, NULL);
		TEST_ASSERT_NOT_NULL(tac_usb_buffer(usb));
		TEST_ASSERT_EQUAL(TAC_USB_LOST, tac_usb_send(usb, 1));
		tac_usb_close(&usb);
		TEST_ASSERT_EQUAL(TAC_ERROR_IO, tac_usb_open(&def, &usb));
		TEST_ASSERT_FALSE(tac_usb_wait(&def, 10 * TAC_NS_PER_MS, NULL, NULL));
		usb_shim_plug(device);
		TEST_ASSERT_TRUE(tac_usb_wait(&def, FAR_NS, NULL, NULL));
	}
	usb_shim_plug(second);
}

static void *plug_later(void *unused)
{
	(void)unused;
	tac_clock_sleep_until_ns(tac_clock_now_ns() + 20 * TAC_NS_PER_MS);
	usb_shim_plug(device);
	return NULL;
}

static bool give_up_at_once(void *user)
{
	++*(int *)user;
	return true;
}

static void an_arrival_ends_the_wait_for_it(void)
{
	usb_shim_unplug(second);
	for (int i = 0; i < 2; i++) {
		usb_shim_mute(i == 1);
		usb_shim_unplug(device);
		pthread_t thread;
		pthread_create(&thread, NULL, plug_later, NULL);
		TEST_ASSERT_TRUE(tac_usb_wait(&def, FAR_NS, NULL, NULL));
		pthread_join(thread, NULL);
	}
	int calls = 0;
	usb_shim_unplug(device);
	TEST_ASSERT_FALSE(tac_usb_wait(&def, FAR_NS, give_up_at_once, &calls));
	TEST_ASSERT_GREATER_THAN(0, calls);
	usb_shim_plug(device);
	usb_shim_plug(second);
}

static void the_real_time_side_does_not_allocate(void)
{
	open_usb();
	const int before = allocations;
	for (int i = 0; i < 50; i++) {
		TEST_ASSERT_EQUAL(TAC_USB_OK, send("1234", 4));
		TEST_ASSERT_EQUAL(TAC_USB_OK, receive(FAR_NS));
	}
	TEST_ASSERT_EQUAL(TAC_USB_TIMEOUT, receive(TAC_NS_PER_MS));
	TEST_ASSERT_EQUAL(before, allocations);
}

static void closing_under_traffic_leaves_nothing_behind(void)
{
	for (int i = 0; i < 20; i++) {
		open_usb();
		if (i % 3 == 0)
			tac_virtual_usb_inject(device, ECHO_OUT, TAC_VIRTUAL_FAULT_SILENCE,
					       3 * TAC_NS_PER_MS);
		for (int k = 0; k < def.out_count; k++)
			send("traffic", 7);
		if (i % 4 == 3)
			usb_shim_unplug(device);
		tac_usb_close(&usb);
		if (i % 4 == 3)
			usb_shim_plug(device);
		tac_virtual_usb_reset(device);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(messages_of_every_length_come_back_whole);
	RUN_TEST(a_receive_waits_until_its_deadline_and_loses_no_message);
	RUN_TEST(control_requests_move_data_both_ways_and_may_be_refused);
	RUN_TEST(a_device_is_opened_by_its_serial_number);
	RUN_TEST(all_devices_are_listed);
	RUN_TEST(missing_permission_logs_the_udev_rule_to_install);
	RUN_TEST(invalid_definitions_are_refused);
	RUN_TEST(a_stall_ends_the_connection_and_opening_again_clears_it);
	RUN_TEST(a_halt_that_is_not_cleared_stays);
	RUN_TEST(bus_errors_and_overflow_end_the_connection);
	RUN_TEST(short_and_corrupt_transfers_are_received_unchanged);
	RUN_TEST(a_device_that_takes_nothing_fills_the_buffers_and_times_out);
	RUN_TEST(unread_messages_are_dropped_and_counted);
	RUN_TEST(unplugging_ends_a_wait_and_plugging_in_is_noticed);
	RUN_TEST(an_arrival_ends_the_wait_for_it);
	RUN_TEST(the_real_time_side_does_not_allocate);
	RUN_TEST(closing_under_traffic_leaves_nothing_behind);
	return UNITY_END();
}
