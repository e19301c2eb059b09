// Messages to the console: each of the protocol's forms, and what is refused.
#include "share/console/request.h"

#include <stdio.h>
#include <string.h>
#include <unity.h>

static request r;

void setUp(void)
{
	memset(&r, 0xa5, sizeof r);
}

void tearDown(void)
{
}

static bool reads(const char *json)
{
	return request_read(json, strlen(json), &r);
}

static void check_item(int i, uint32_t id, uint32_t channel)
{
	TEST_ASSERT_EQUAL_UINT32(id, r.items[i].id);
	TEST_ASSERT_EQUAL_UINT32(channel, r.items[i].channel);
}

static void subscriptions_in_any_order(void)
{
	TEST_ASSERT_TRUE(reads("{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1,\"channelId\":2},"
			       "{\"channelId\":4294967295,\"extra\":{\"id\":9},\"id\":0}]}"));
	TEST_ASSERT_EQUAL(REQUEST_SUBSCRIBE, r.op);
	TEST_ASSERT_EQUAL_INT32(2, r.count);
	check_item(0, 1, 2);
	TEST_ASSERT_TRUE(reads(" {\n\"subscriptions\" : [ { \"channelId\" : 3 , \"id\" : 7 } ] , \"op\" : "
			       "\"subscribe\" } "));
	TEST_ASSERT_EQUAL_INT32(1, r.count);
	check_item(0, 7, 3);
	TEST_ASSERT_TRUE(reads("{\"op\":\"unsubscribe\",\"subscriptionIds\":[7,8,4294967295]}"));
	TEST_ASSERT_EQUAL(REQUEST_UNSUBSCRIBE, r.op);
	TEST_ASSERT_EQUAL_INT32(3, r.count);
	check_item(2, 4294967295U, 0);
}

static void items_that_are_none_are_left_out(void)
{
	TEST_ASSERT_TRUE(
		reads("{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":-1,\"channelId\":2},{\"id\":1},"
		      "{\"channelId\":2},{\"id\":4294967296,\"channelId\":0},{\"id\":\"1\",\"channelId\":2},"
		      "{\"id\":1.5,\"channelId\":2},{\"id\":99999999999999999999,\"channelId\":2}]}"));
	TEST_ASSERT_EQUAL_INT32(0, r.count);
	TEST_ASSERT_TRUE(reads("{\"op\":\"unsubscribe\",\"subscriptionIds\":[-1,1e3,\"1\",[1],{\"a\":1}]}"));
	TEST_ASSERT_EQUAL_INT32(0, r.count);
}

static void more_items_than_there_is_room_for(void)
{
	static char json[REQUEST_ITEMS * 8 + 64];
	size_t used = (size_t)snprintf(json, sizeof json, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[0");
	for (int i = 1; i <= REQUEST_ITEMS; i++)
		used += (size_t)snprintf(json + used, sizeof json - used, ",%d", i);
	snprintf(json + used, sizeof json - used, "]}");
	TEST_ASSERT_TRUE(reads(json));
	TEST_ASSERT_EQUAL_INT32(REQUEST_ITEMS, r.count);
	check_item(REQUEST_ITEMS - 1, REQUEST_ITEMS - 1, 0);
}

static void commands(void)
{
	TEST_ASSERT_TRUE(
		reads("{\"station\":\"anna\",\"kind\":\"gain\",\"value\":0.25,\"text\":\"a\\\"b\\u00e9\"}"));
	TEST_ASSERT_EQUAL(REQUEST_COMMAND, r.op);
	TEST_ASSERT_EQUAL_STRING("anna", r.station);
	TEST_ASSERT_EQUAL_STRING("gain", r.kind);
	TEST_ASSERT_EQUAL_STRING("a\"b\xc3\xa9", r.text);
	TEST_ASSERT_TRUE(r.value == 0.25);
	TEST_ASSERT_TRUE(reads("{\"kind\":\"stop\",\"station\":\"anna\"}"));
	TEST_ASSERT_TRUE(r.value == 0 && r.text[0] == 0);
	TEST_ASSERT_TRUE(reads("{\"station\":\"anna\",\"kind\":\"gain\",\"value\":1}"));
	TEST_ASSERT_TRUE(r.value == 1);
}

// A text that does not fit is none: its end must not be taken for the whole.
static void long_texts(void)
{
	char json[1024];
	for (int length = 10; length < 600; length++) {
		snprintf(json, sizeof json, "{\"station\":\"anna\",\"kind\":\"%0*dstop\"}", length, 0);
		TEST_ASSERT_EQUAL(length + 4 <= 16, reads(json));
		snprintf(json, sizeof json, "{\"station\":\"%0*danna\",\"kind\":\"stop\"}", length, 0);
		TEST_ASSERT_FALSE(reads(json));
		snprintf(json, sizeof json, "{\"station\":\"anna\",\"kind\":\"stop\",\"text\":\"%0*d\"}",
			 length, 0);
		TEST_ASSERT_TRUE(reads(json));
		TEST_ASSERT_EQUAL_size_t(length <= 96 ? (size_t)length : 0, strlen(r.text));
	}
}

static void what_is_refused(void)
{
	static const char *const texts[] = {
		"",
		"{",
		"stop",
		"[]",
		"{}",
		"{\"op\":\"advertise\",\"channels\":[]}",
		"{\"op\":\"subscribe\",\"x\":999999999999999999999}", // more digits than the parser takes
		"{\"op\":[\"subscribe\"]}",
		"{\"op\":{\"op\":\"subscribe\"}}",
		"{\"x\":\"\\\"op\\\":\\\"subscribe\\\"\"}",
		"{\"station\":\"anna\"}",
		"{\"station\":\"../anna\",\"kind\":\"stop\"}",
		"{\"station\":\"anna\\u0000\",\"kind\":\"stop\"}",
		"{\"station\":\"anna\",\"kind\":\"gain\",\"value\":1e999}",
		"{\"station\":\"anna\",\"kind\":\"gain\",\"value\":nan}",
		"{\"station\":\"anna\",\"kind\":\"stop\"",
		"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":"
		"1}}}}}}}}}}}}}",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		TEST_ASSERT_FALSE_MESSAGE(reads(texts[i]), texts[i]);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(subscriptions_in_any_order);
	RUN_TEST(items_that_are_none_are_left_out);
	RUN_TEST(more_items_than_there_is_room_for);
	RUN_TEST(commands);
	RUN_TEST(long_texts);
	RUN_TEST(what_is_refused);
	return UNITY_END();
}
