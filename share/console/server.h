// Server: the console's page and its web socket, which speaks foxglove.websocket.v1: every client of that
// protocol can plot the channels of the desk, and the page is one of them. Commands are messages that a
// client publishes on the topic /command.
//
// On a loopback address anybody on this machine may connect, but no page of another origin. On any other
// address the connection is encrypted, and needs the token.
#ifndef TAC_SHARE_CONSOLE_SERVER_H
#define TAC_SHARE_CONSOLE_SERVER_H

#include "share/bridge/wire.h"

typedef struct server_def {
	wire_def wire;
	const char *host; // an address of this machine
	int port;
	const char *certificate, *key; // PEM files; NULL: not encrypted
	const char *token;             // NULL: none is needed
	const char *store;             // of desk_open
	const char *pages;             // folder of the page
} server_def;

// Serves until a signal ends it. Returns an exit code.
int server_run(const server_def *def);

#endif
