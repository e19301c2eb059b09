"""Counts what stations publish and what of it travels, from the packets themselves: every packet of DDS carries the number that
its writer gave the sample, so a number that never passes was lost by the sender."""

import contextlib
import ctypes
import math
import socket
import struct
import threading

ETH_P_IP = 0x0800
SO_ATTACH_FILTER, SO_RCVBUFFORCE = 26, 33
SOL_PACKET, PACKET_STATISTICS = 263, 6
LARGEST = 1000  # bytes of an IP packet that is looked at; blocks, scenes and recordings are larger
DATA = 0x15     # the submessage that carries a sample
INLINE_QOS, WITH_DATA = 0x02, 0x04
STATE_BYTES = 396  # of tactus::State in XCDR1, with its encapsulation, for a name of 1 to 3 letters; no other type has it


def small_packets_only(watcher):
    """A filter in the kernel, so that it never has to keep the large ones: ldh [16]; jge LARGEST, drop; accept; drop."""
    program = struct.pack("=HBBI", 0x28, 0, 0, 16) + struct.pack("=HBBI", 0x35, 1, 0, LARGEST)
    program += struct.pack("=HBBI", 0x06, 0, 0, LARGEST + 14) + struct.pack("=HBBI", 0x06, 0, 0, 0)
    code = ctypes.create_string_buffer(program, len(program))
    watcher.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 4, ctypes.addressof(code)))


def samples(packet):
    """Of an Ethernet frame: (writer, number, payload) of every sample in it. The writer is its address and number."""
    ip = packet[14:]
    if len(ip) < 48 or ip[9] != socket.IPPROTO_UDP or struct.unpack_from(">H", ip, 6)[0] & 0x1FFF:
        return
    message = ip[(ip[0] & 15) * 4 + 8:]
    if message[:4] != b"RTPS":
        return
    at = 20
    while at + 4 <= len(message):
        kind, flags = message[at], message[at + 1]
        order = "<" if flags & 1 else ">"
        size = struct.unpack_from(order + "H", message, at + 2)[0]
        body = message[at + 4:at + 4 + size] if size else message[at + 4:]
        if kind == DATA and flags & WITH_DATA and not flags & INLINE_QOS:
            skip = 4 + struct.unpack_from(order + "H", body, 2)[0]
            high, low = struct.unpack_from(order + "iI", body, 12)
            yield (message[8:20], body[8:12]), (high << 32) + low, body[skip:]
        at += 4 + len(body)


class States:
    """Follows tactus/state on an interface, from its beginning to end()."""

    def __init__(self, interface):
        self.numbers = {}  # (station, run): {writer: numbers of its samples that passed}
        self.watcher = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
        with contextlib.suppress(PermissionError):  # in a user's own namespace, by the kernel's version
            self.watcher.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        small_packets_only(self.watcher)
        self.watcher.bind((interface, ETH_P_IP))
        self.watcher.settimeout(0.2)
        self.ended = False
        self.missed = 0
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def follow(self):
        """Until end() is called and what has come by then is read: others may go on sending for ever."""
        while True:
            if self.ended:
                self.watcher.setblocking(False)
            try:
                packet = self.watcher.recv(2048)
            except (TimeoutError, BlockingIOError):
                if self.ended:
                    return
                continue
            except OSError:  # the interface is gone
                return
            for writer, number, payload in samples(packet):
                if len(payload) == STATE_BYTES:
                    self.note(writer, number, payload[4:])

    def note(self, writer, number, state):
        station = state[4:4 + struct.unpack_from("<I", state)[0] - 1].decode()
        run = "%016x" % struct.unpack_from("<Q", state, 16)[0]
        self.numbers.setdefault((station, run), {}).setdefault(writer, set()).add(number)

    def end(self):
        """(station, run) to the number of samples between the first and the last one that passed, and how many of these were lost.
        `missed` are packets that this process was too slow for: they would be taken for lost ones."""
        if not self.ended:
            self.ended = True
            self.thread.join()
            _, self.missed = struct.unpack("II", self.watcher.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
            self.watcher.close()
        found = {}
        for run, writers in self.numbers.items():
            (numbers,) = writers.values()  # a run has one bridge, and this one writer
            published = max(numbers) - min(numbers) - 1
            found[run] = (published, published + 2 - len(numbers))
        return found


def tails(count, chance, found):
    """The probabilities that of `count` at most, and at least, `found` happen, each with `chance`: exact sums of the binomial."""
    def exactly(k):
        return math.exp(math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
                        + k * math.log(chance) + (count - k) * math.log1p(-chance))
    return math.fsum(exactly(k) for k in range(found + 1)), math.fsum(exactly(k) for k in range(found, count + 1))
