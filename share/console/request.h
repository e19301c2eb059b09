// Request: a message from a client of the web socket. Whoever may connect can send anything, so all of it is
// checked here.
#ifndef TAC_SHARE_CONSOLE_REQUEST_H
#define TAC_SHARE_CONSOLE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_ITEMS 512 // of one message; more are ignored

typedef struct request_item {
	uint32_t id;      // the client's number of a subscription
	uint32_t channel; // the server's of a channel; 0 in REQUEST_UNSUBSCRIBE
} request_item;

typedef enum request_op {
	REQUEST_NOTHING, // of this server; the protocol has more
	REQUEST_SUBSCRIBE,
	REQUEST_UNSUBSCRIBE,
	REQUEST_COMMAND,
} request_op;

typedef struct request {
	request_op op;
	int32_t count;
	request_item items[REQUEST_ITEMS];
	// Of REQUEST_COMMAND: as tactus.idl has them.
	char station[33], kind[17], text[97];
	double value; // finite
} request;

// Reads {"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 2}, …]},
// {"op": "unsubscribe", "subscriptionIds": [1, …]}, or
// {"station": "anna", "kind": "stop", "value": 0, "text": ""}, in any order of members. A member of another
// type, or a text that is too long, is as if it were missing. False: not JSON, nested too deeply, or neither
// an operation nor a command for a valid station.
bool request_read(const void *json, size_t size, request *out);

#endif
