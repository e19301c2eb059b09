// Any bytes as a message to the console: refused, or read as something that, written in the plainest way, is
// read as the same again.
#include "share/console/request.h"
#include "share/station.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
	if (!good)
		abort();
}

static void print_string(FILE *file, const char *name, const char *value)
{
	fprintf(file, ",\"%s\":\"", name);
	for (const unsigned char *c = (const unsigned char *)value; *c; c++)
		fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : *c < 0x20 ? "\\u%04x" : "%c", *c);
	fputc('"', file);
}

static void print(const request *r, FILE *file)
{
	if (r->op == REQUEST_COMMAND) {
		fprintf(file, "{\"value\":%.17g", r->value);
		print_string(file, "station", r->station);
		print_string(file, "kind", r->kind);
		print_string(file, "text", r->text);
	} else {
		const bool on = r->op == REQUEST_SUBSCRIBE;
		fprintf(file, "{\"op\":\"%s\",\"%s\":[", on ? "subscribe" : "unsubscribe",
			on ? "subscriptions" : "subscriptionIds");
		for (int32_t i = 0; i < r->count; i++)
			fprintf(file, on ? "%s{\"id\":%u,\"channelId\":%u}" : "%s%u", i ? "," : "",
				r->items[i].id, r->items[i].channel);
		fputc(']', file);
	}
	fputc('}', file);
}

static void check_same(const request *a, const request *b)
{
	require(a->op == b->op);
	if (a->op == REQUEST_COMMAND) {
		require(strcmp(a->station, b->station) == 0 && strcmp(a->kind, b->kind) == 0 &&
			strcmp(a->text, b->text) == 0 && a->value == b->value);
		return;
	}
	require(a->count == b->count);
	for (int32_t i = 0; i < a->count; i++)
		require(a->items[i].id == b->items[i].id &&
			(a->op == REQUEST_UNSUBSCRIBE || a->items[i].channel == b->items[i].channel));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	request first, second;
	if (size > 65536 || !request_read(data, size, &first))
		return 0;
	require(first.count >= 0 && first.count <= REQUEST_ITEMS);
	require(first.op != REQUEST_NOTHING);
	require(first.op != REQUEST_COMMAND ||
		(tac_station_name_valid(first.station) && isfinite(first.value)));
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	require(file != NULL);
	print(&first, file);
	require(fclose(file) == 0);
	require(request_read(text, length, &second));
	check_same(&first, &second);
	free(text);
	return 0;
}
