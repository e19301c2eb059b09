#include "share/console/request.h"

#include "share/station.h"

#include <errno.h>
#include <libwebsockets.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
	request *request;
	char op[16];
	bool long_text; // the text that is being read does not fit into the parser's buffer
	bool has_id, has_channel;
	request_item item; // that is being read
} reader;

static void add(reader *r, request_item item)
{
	if (r->request->count < REQUEST_ITEMS)
		r->request->items[r->request->count++] = item;
}

static bool number_of(const struct lejp_ctx *ctx, uint32_t *out)
{
	char *end;
	errno = 0;
	const long long value = strtoll(ctx->buf, &end, 10);
	if (errno != 0 || *end != 0 || value < 0 || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

static void take_integer(reader *r, const struct lejp_ctx *ctx)
{
	request_item item = {0};
	if (strcmp(ctx->path, "subscriptionIds[]") == 0 && number_of(ctx, &item.id))
		add(r, item);
	else if (strcmp(ctx->path, "subscriptions[].id") == 0)
		r->has_id = number_of(ctx, &r->item.id);
	else if (strcmp(ctx->path, "subscriptions[].channelId") == 0)
		r->has_channel = number_of(ctx, &r->item.channel);
	if (!r->has_id || !r->has_channel)
		return;
	add(r, r->item);
	r->has_id = r->has_channel = false;
}

static void take_text(reader *r, const struct lejp_ctx *ctx)
{
	const struct {
		const char *path;
		char *to;
		size_t size;
	} texts[] = {
		{"op", r->op, sizeof r->op},
		{"station", r->request->station, sizeof r->request->station},
		{"kind", r->request->kind, sizeof r->request->kind},
		{"text", r->request->text, sizeof r->request->text},
	};
	const size_t length = ctx->npos;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (strcmp(ctx->path, texts[i].path) != 0)
			continue;
		const bool fits = !r->long_text && length < texts[i].size && !memchr(ctx->buf, 0, length);
		memcpy(texts[i].to, ctx->buf, fits ? length : 0);
		texts[i].to[fits ? length : 0] = 0;
	}
}

static signed char on_part(struct lejp_ctx *ctx, char reason)
{
	reader *r = ctx->user;
	switch (reason) {
	case LEJPCB_OBJECT_START:
		if (strcmp(ctx->path, "subscriptions[]") == 0)
			r->has_id = r->has_channel = false;
		break;
	case LEJPCB_VAL_NUM_INT:
	case LEJPCB_VAL_NUM_FLOAT:
		if (strcmp(ctx->path, "value") == 0)
			r->request->value = strtod(ctx->buf, NULL);
		else if (reason == LEJPCB_VAL_NUM_INT)
			take_integer(r, ctx);
		break;
	case LEJPCB_VAL_STR_START:
		r->long_text = false;
		break;
	case LEJPCB_VAL_STR_CHUNK:
		r->long_text = true;
		break;
	case LEJPCB_VAL_STR_END:
		take_text(r, ctx);
		break;
	default:
		break;
	}
	return 0;
}

bool request_read(const void *json, size_t size, request *out)
{
	*out = (request){0};
	reader r = {.request = out};
	struct lejp_ctx ctx;
	lejp_construct(&ctx, on_part, &r, NULL, 0);
	const int left = lejp_parse(&ctx, json, (int)size);
	lejp_destruct(&ctx);
	if (left < 0)
		return false;
	if (strcmp(r.op, "subscribe") == 0)
		out->op = REQUEST_SUBSCRIBE;
	else if (strcmp(r.op, "unsubscribe") == 0)
		out->op = REQUEST_UNSUBSCRIBE;
	else if (tac_station_name_valid(out->station) && out->kind[0] && isfinite(out->value))
		out->op = REQUEST_COMMAND;
	return out->op != REQUEST_NOTHING;
}
