// The registers of an FX2LP that fx2lp.c uses, and what stands for them in a test on the host.
#ifndef TAC_HARDWARE_FX2LP_H
#define TAC_HARDWARE_FX2LP_H

#ifdef __SDCC
#define FX2_REGISTER(name, address)                                                                          \
	volatile __xdata __at(address)                                                                       \
	unsigned char name
#define FX2_PORT(name, address) __sfr __at(address) name
// Some registers need a pause between two accesses: at most 6 cycles of the CPU at 20 MHz of the FIFO.
#define SYNC_DELAY() __asm__("nop\n nop\n nop\n nop")
#else
#define FX2_REGISTER(name, address) extern volatile unsigned char name
#define FX2_PORT(name, address)     extern volatile unsigned char name
#define SYNC_DELAY()                ((void)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

FX2_PORT(IOD, 0xB0);
FX2_REGISTER(OUTPKTEND, 0xE649);
FX2_REGISTER(EP2BCH, 0xE690);
FX2_REGISTER(EP2BCL, 0xE691);
FX2_REGISTER(EP2CS, 0xE6A3);
#ifdef __SDCC
FX2_PORT(OED, 0xB5);
FX2_REGISTER(CPUCS, 0xE600);
FX2_REGISTER(IFCONFIG, 0xE601);
FX2_REGISTER(PINFLAGSAB, 0xE602);
FX2_REGISTER(FIFORESET, 0xE604);
FX2_REGISTER(FIFOPINPOLAR, 0xE609);
FX2_REGISTER(REVCTL, 0xE60B);
FX2_REGISTER(EP1OUTCFG, 0xE610);
FX2_REGISTER(EP1INCFG, 0xE611);
FX2_REGISTER(EP2CFG, 0xE612);
FX2_REGISTER(EP4CFG, 0xE613);
FX2_REGISTER(EP6CFG, 0xE614);
FX2_REGISTER(EP8CFG, 0xE615);
FX2_REGISTER(EP2FIFOCFG, 0xE618);
FX2_REGISTER(EP4FIFOCFG, 0xE619);
FX2_REGISTER(EP6FIFOCFG, 0xE61A);
FX2_REGISTER(EP8FIFOCFG, 0xE61B);
FX2_REGISTER(EP6AUTOINLENH, 0xE624);
FX2_REGISTER(EP6AUTOINLENL, 0xE625);
FX2_REGISTER(USBIRQ, 0xE65D);
FX2_REGISTER(USBCS, 0xE680);
FX2_REGISTER(TOGCTL, 0xE683);
FX2_REGISTER(EP0BCH, 0xE68A);
FX2_REGISTER(EP0BCL, 0xE68B);
FX2_REGISTER(EP0CS, 0xE6A0);
FX2_REGISTER(EP6CS, 0xE6A5);
volatile __xdata __at(0xE6B8) unsigned char SETUPDAT[8];
volatile __xdata __at(0xE740) unsigned char EP0BUF[64];
#endif

enum {
	EP_EMPTY = 0x04,
	EP_SKIP = 0x80,
	EP0_STALL = 0x01,
	EP0_DONE = 0x80,
	USBCS_RENUM = 0x02,
	USBCS_DISCONNECTED = 0x08,
	USBCS_HIGH_SPEED = 0x80,
	USBIRQ_SETUP = 0x01,
	USBIRQ_RESET = 0x10,
};

void hand_over(void);

#ifdef __cplusplus
}
#endif

#endif
