"""A client of the console's web socket that does as it is told, well or badly. As a program, websocket.py URL CERTIFICATE [HEADER…] prints
the status with which the server answers: 101 if it lets the client in, nothing if there is no connection."""

import json
import os
import socket
import ssl
import struct
import sys
import urllib.parse

HEADERS = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
           "Sec-WebSocket-Protocol: foxglove.websocket.v1")
TEXT, BINARY = 1, 2


class WebSocket:
    """Of an address http(s)://HOST:PORT/…; `certificate` is a file with whom to trust."""

    def __init__(self, url, *headers, certificate=None):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=300)
        if parts.scheme == "https":
            self.socket = ssl.create_default_context(cafile=certificate).wrap_socket(self.socket, server_hostname=parts.hostname)
        path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
        host = () if any(header.startswith("Host:") for header in headers) else ("Host: " + parts.netloc,)
        self.socket.sendall("\r\n".join(("GET %s HTTP/1.1" % path, *host, *HEADERS, *headers, "", "")).encode())
        self.waiting = b""
        while b"\r\n\r\n" not in self.waiting:
            self.waiting += self.more()
        head, _, self.waiting = self.waiting.partition(b"\r\n\r\n")
        self.status = int(head.split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("closed by the server")
        return piece

    def exactly(self, size):
        while len(self.waiting) < size:
            self.waiting += self.more()
        piece, self.waiting = self.waiting[:size], self.waiting[size:]
        return piece

    def receive(self, wanted):
        """The next message that is TEXT or BINARY, as `wanted`."""
        message, kind = b"", 0
        while True:
            first, size = self.exactly(2)
            if size >= 126:
                size = int.from_bytes(self.exactly(2 if size == 126 else 8), "big")
            kind = first & 15 or kind
            message += self.exactly(size)
            if first & 0x80:
                if kind == wanted:
                    return message
                message = b""

    def send(self, value):
        """A short JSON text, masked as a client's must be."""
        text = json.dumps(value).encode()
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(text))
        self.socket.sendall(struct.pack(">BBH", 0x80 | TEXT, 0x80 | 126, len(text)) + mask + masked)

    def channel(self, topic):
        """The number of a topic's channel, once the server has advertised it."""
        while True:
            for channel in json.loads(self.receive(TEXT)).get("channels", ()):
                if channel["topic"] == topic:
                    return channel["id"]


if __name__ == "__main__":
    try:
        with WebSocket(sys.argv[1], *sys.argv[3:], certificate=sys.argv[2] or None) as client:
            print(client.status)
    except OSError:
        pass
