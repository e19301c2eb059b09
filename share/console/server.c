#include "share/console/server.h"

#include "share/console/desk.h"
#include "share/console/text.h"

#include <libwebsockets.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTOCOL       "foxglove.websocket.v1"
#define POLL_US        20000
#define WAITING_MAX    (8u << 20)  // bytes that may wait for one client; what moves is left out beyond
#define WAITING_CLOSED (64u << 20) // a client that lets more wait is closed; its page connects again
#define SUBSCRIBED     (DESK_STATIONS * DESK_KINDS)
#define RECEIVED_MAX   65536 // bytes of a message from a client
#define OPCODE_DATA    1     // of a binary message, in both directions
#define HEAD_BYTES     13    // opcode, subscription, time
#define COMMAND_HEAD   5     // opcode, the client's channel
#define NOT_SUBSCRIBED UINT32_MAX

typedef struct outgoing {
	struct outgoing *next;
	size_t size;
	bool binary;
	unsigned char bytes[]; // behind LWS_PRE
} outgoing;

typedef struct client {
	struct client *next;
	struct lws *wsi;
	outgoing *first, *last;
	size_t waiting;
	uint32_t advertised;                // stations
	uint32_t subscriptions[SUBSCRIBED]; // by channel
	char received[RECEIVED_MAX];
	size_t received_bytes;
	bool too_long;
} client;

typedef struct server {
	server_def def;
	struct lws_context *context;
	lws_sorted_usec_list_t timer;
	desk *desk;
	uint32_t stations;
	client *clients;
} server;

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

// ---- sending ----

static void queue(client *c, const void *head, size_t head_size, const void *bytes, size_t size, bool binary)
{
	if (c->waiting > WAITING_CLOSED) {
		lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
		return;
	}
	outgoing *o = malloc(sizeof *o + LWS_PRE + head_size + size);
	if (!o)
		return;
	*o = (outgoing){.size = head_size + size, .binary = binary};
	if (head_size > 0)
		memcpy(o->bytes + LWS_PRE, head, head_size);
	memcpy(o->bytes + LWS_PRE + head_size, bytes, size);
	if (c->last)
		c->last->next = o;
	else
		c->first = o;
	c->last = o;
	c->waiting += o->size;
	lws_callback_on_writable(c->wsi);
}

static void queue_text(client *c, text *t)
{
	if (!text_end(t))
		return;
	queue(c, NULL, 0, t->bytes, t->size, false);
	free(t->bytes);
}

// desk_message_fn for one client.
static void pass_on(void *user, uint32_t channel, int64_t time_ns, const void *bytes, size_t size)
{
	client *c = user;
	if (c->subscriptions[channel] == NOT_SUBSCRIBED ||
	    (c->waiting > WAITING_MAX && channel % DESK_KINDS >= DESK_STATE))
		return;
	unsigned char head[HEAD_BYTES] = {OPCODE_DATA};
	memcpy(head + 1, &c->subscriptions[channel], 4);
	memcpy(head + 5, &time_ns, 8);
	queue(c, head, sizeof head, bytes, size, true);
}

// desk_message_fn for all clients.
static void pass_on_to_all(void *user, uint32_t channel, int64_t time_ns, const void *bytes, size_t size)
{
	for (client *c = ((server *)user)->clients; c; c = c->next)
		pass_on(c, channel, time_ns, bytes, size);
}

static void greet(client *c)
{
	static const char hello[] =
		"{\"op\":\"serverInfo\",\"name\":\"tactus console\",\"capabilities\":[\"clientPublish\"],"
		"\"supportedEncodings\":[\"json\"],\"metadata\":{}}";
	queue(c, NULL, 0, hello, sizeof hello - 1, false);
}

// Tells a client of stations that it has not heard of.
static void advertise(server *s, client *c)
{
	text t;
	if (c->advertised == s->stations || !text_begin(&t))
		return;
	fprintf(t.file, "{\"op\":\"advertise\",\"channels\":[");
	for (uint32_t i = c->advertised * DESK_KINDS; i < s->stations * DESK_KINDS; i++) {
		const desk_channel channel = desk_describe(s->desk, i);
		fprintf(t.file, "%s{\"id\":%u,\"topic\":", i > c->advertised * DESK_KINDS ? "," : "", i);
		text_string(&t, channel.topic);
		fprintf(t.file,
			",\"encoding\":\"%s\",\"schemaName\":\"%s\",\"schemaEncoding\":\"%s\",\"schema\":",
			channel.encoding, channel.schema_name, channel.schema_encoding);
		text_string(&t, channel.schema);
		fprintf(t.file, "}");
	}
	fprintf(t.file, "]}");
	c->advertised = s->stations;
	queue_text(c, &t);
}

// ---- receiving ----

static void subscribe(server *s, client *c, const request *r)
{
	for (int32_t i = 0; i < r->count; i++) {
		const request_item item = r->items[i];
		if (item.channel >= s->stations * DESK_KINDS || c->subscriptions[item.channel] == item.id)
			continue;
		c->subscriptions[item.channel] = item.id;
		desk_repeat(s->desk, item.channel, pass_on, c);
	}
}

static void unsubscribe(client *c, const request *r)
{
	for (int32_t i = 0; i < r->count; i++)
		for (uint32_t k = 0; k < SUBSCRIBED; k++)
			if (c->subscriptions[k] == r->items[i].id)
				c->subscriptions[k] = NOT_SUBSCRIBED;
}

// A binary message is an opcode, the client's channel, and a command: there is one topic, /command.
static void receive(server *s, client *c, bool binary)
{
	const size_t head = binary ? COMMAND_HEAD : 0;
	request r;
	if (c->received_bytes <= head || (binary && c->received[0] != OPCODE_DATA) ||
	    !request_read(c->received + head, c->received_bytes - head, &r))
		return;
	if (binary && r.op == REQUEST_COMMAND)
		desk_command(s->desk, &r);
	else if (!binary && r.op == REQUEST_SUBSCRIBE)
		subscribe(s, c, &r);
	else if (!binary && r.op == REQUEST_UNSUBSCRIBE)
		unsubscribe(c, &r);
}

static void collect(server *s, client *c, const void *bytes, size_t size)
{
	c->too_long |= c->received_bytes + size > RECEIVED_MAX;
	if (!c->too_long) {
		memcpy(c->received + c->received_bytes, bytes, size);
		c->received_bytes += size;
	}
	if (!lws_is_final_fragment(c->wsi) || lws_remaining_packet_payload(c->wsi) != 0)
		return;
	if (!c->too_long)
		receive(s, c, lws_frame_is_binary(c->wsi) != 0);
	c->received_bytes = 0;
	c->too_long = false;
}

// ---- who may connect ----

static bool is_loopback(const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]", "::1"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const size_t length = strlen(names[i]);
		if (strncmp(host, names[i], length) == 0 && (host[length] == 0 || host[length] == ':'))
			return true;
	}
	return false;
}

// Compares without a hint, by the time it takes, how much of it is right.
static bool token_matches(const char *token, const char *given)
{
	const size_t length = strlen(token);
	unsigned char difference = strlen(given) != length;
	for (size_t i = 0; i < length; i++)
		difference |= (unsigned char)(token[i] ^ given[difference ? 0 : i]);
	return difference == 0;
}

static bool may_connect(const server *s, struct lws *wsi)
{
	char host[256] = "", origin[256] = "", token[128] = "";
	lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST);
	lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN);
	// A browser says from which page it comes; another site's must not reach the stations.
	const char *page = strstr(origin, "://");
	if (origin[0] && (!page || strcmp(page + 3, host) != 0))
		return false;
	if (!s->def.token)
		return is_loopback(host); // no other name: it might be a hostile site's that resolves to us
	const char *given = lws_get_urlarg_by_name(wsi, "token=", token, sizeof token);
	return given && token_matches(s->def.token, given);
}

// ---- libwebsockets ----

static void forget(server *s, client *c)
{
	for (client **link = &s->clients; *link; link = &(*link)->next) {
		if (*link == c) {
			*link = c->next;
			break;
		}
	}
	for (outgoing *o = c->first; o;) {
		outgoing *next = o->next;
		free(o);
		o = next;
	}
	free(c);
}

static int write_next(client *c)
{
	outgoing *o = c->first;
	if (!o)
		return 0;
	if (lws_write(c->wsi, o->bytes + LWS_PRE, o->size, o->binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT) <
	    (int)o->size)
		return -1;
	c->first = o->next;
	if (!c->first)
		c->last = NULL;
	c->waiting -= o->size;
	free(o);
	if (c->first)
		lws_callback_on_writable(c->wsi);
	return 0;
}

static int welcome(server *s, struct lws *wsi, client **out_client)
{
	client *c = calloc(1, sizeof *c);
	if (!c)
		return -1;
	c->wsi = wsi;
	memset(c->subscriptions, 0xff, sizeof c->subscriptions); // NOT_SUBSCRIBED
	c->next = s->clients;
	s->clients = c;
	*out_client = c;
	greet(c);
	advertise(s, c);
	return 0;
}

// The session's memory holds a pointer to the client.
static int on_socket(struct lws *wsi, enum lws_callback_reasons reason, void *session, void *in, size_t size)
{
	server *s = lws_context_user(lws_get_context(wsi));
	client **c = session;
	switch (reason) {
	case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
		return may_connect(s, wsi) ? 0 : -1;
	case LWS_CALLBACK_ESTABLISHED:
		return welcome(s, wsi, c);
	case LWS_CALLBACK_RECEIVE:
		if (*c)
			collect(s, *c, in, size);
		return 0;
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return *c ? write_next(*c) : -1;
	case LWS_CALLBACK_CLOSED:
		if (*c)
			forget(s, *c);
		*c = NULL;
		return 0;
	default:
		return 0;
	}
}

static void poll_desk(lws_sorted_usec_list_t *timer)
{
	server *s = lws_container_of(timer, server, timer);
	s->stations = desk_poll(s->desk);
	for (client *c = s->clients; c; c = c->next)
		advertise(s, c);
	lws_sul_schedule(s->context, 0, &s->timer, poll_desk, POLL_US);
}

static struct lws_context *open_context(server *s)
{
	static const struct lws_protocols protocols[] = {
		{"http", lws_callback_http_dummy, 0, 0, 0, NULL, 0},
		{PROTOCOL, on_socket, sizeof(client *), 4096, 0, NULL, 0},
		{NULL, NULL, 0, 0, 0, NULL, 0},
	};
	static struct lws_http_mount mount;
	static const struct lws_protocol_vhost_options module = {NULL, NULL, ".js", "text/javascript"};
	// A page of this origin alone, in no frame.
	static const struct lws_protocol_vhost_options policy = {
		NULL, NULL, "content-security-policy:",
		"default-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; style-src 'self' "
		"'unsafe-inline'; "
		"frame-ancestors 'none'"};
	mount = (struct lws_http_mount){.mountpoint = "/",
					.mountpoint_len = 1,
					.origin = s->def.pages,
					.origin_protocol = LWSMPRO_FILE,
					.def = "index.html",
					.extra_mimetypes = &module};
	struct lws_context_creation_info info = {
		.port = s->def.port,
		.iface = s->def.host,
		.protocols = protocols,
		.mounts = &mount,
		.headers = &policy,
		.user = s,
		.gid = -1,
		.uid = -1,
		.ssl_cert_filepath = s->def.certificate,
		.ssl_private_key_filepath = s->def.key,
	};
	info.options = s->def.certificate ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0;
	lws_set_log_level(LLL_ERR, NULL);
	return lws_create_context(&info);
}

int server_run(const server_def *def)
{
	server *s = calloc(1, sizeof *s);
	if (!s)
		return EXIT_FAILURE;
	s->def = *def;
	s->desk = desk_open(&def->wire, def->store, pass_on_to_all, s);
	s->context = s->desk ? open_context(s) : NULL;
	if (s->desk && !s->context)
		fprintf(stderr,
			"tactus console: expected to listen at %s, port %d, found: it is in use, or not an "
			"address of this machine\n",
			def->host, def->port);
	const bool good = s->context != NULL;
	const struct sigaction action = {.sa_handler = end};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (good) {
		printf("%s://%s:%d/%s%s\n", def->certificate ? "https" : "http", def->host, def->port,
		       def->token ? "?token=" : "", def->token ? def->token : "");
		fflush(stdout);
		poll_desk(&s->timer);
	}
	while (good && !ended && lws_service(s->context, 0) >= 0)
		;
	if (s->context)
		lws_context_destroy(s->context);
	desk_close(&s->desk);
	free(s);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
