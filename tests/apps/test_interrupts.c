// The reading of /proc/interrupts against tables written by hand.
#include "apps/session/interrupts.h"

#include <stdlib.h>
#include <string.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static const char before[] = "           CPU0       CPU2       \n"
			     "  0:         10          0  IO-APIC   2-edge      timer\n"
			     " 24:          5         70  PCI-MSI 524288-edge      eth0\n"
			     "LOC:       1000       2000  Local timer interrupts\n"
			     "RES:          1          2  Rescheduling interrupts\n"
			     "ERR:          7\n";
static const char after[] = "           CPU0       CPU2       \n"
			    "  0:         10          0  IO-APIC   2-edge      timer\n"
			    " 24:          6        170  PCI-MSI 524288-edge      eth0\n"
			    " 25:          0         40  PCI-MSI 524289-edge      xhci_hcd  \n"
			    "LOC:       1500       4500  Local timer interrupts\n"
			    "RES:          1          1  Rescheduling interrupts\n"
			    "ERR:          9\n";

static void counts_are_those_of_the_cpu_in_descending_order(void)
{
	interrupts found;
	interrupts_count(before, after, 2, &found);
	TEST_ASSERT_EQUAL_INT(2, found.cpu);
	TEST_ASSERT_EQUAL_INT(3, found.count);
	TEST_ASSERT_EQUAL_STRING("Local timer interrupts", found.sources[0].name);
	TEST_ASSERT_EQUAL_UINT64(2500, found.sources[0].count);
	TEST_ASSERT_EQUAL_STRING("eth0", found.sources[1].name);
	TEST_ASSERT_EQUAL_UINT64(100, found.sources[1].count);
	TEST_ASSERT_EQUAL_STRING("xhci_hcd", found.sources[2].name); // it came during the run
	TEST_ASSERT_EQUAL_UINT64(2640, found.all);
	interrupts_count(before, after, 0, &found);
	TEST_ASSERT_EQUAL_INT(3, found.count); // ERR has one count for the whole machine
	TEST_ASSERT_EQUAL_UINT64(500, found.sources[0].count);
}

static void a_cpu_that_is_not_listed_has_no_counts(void)
{
	interrupts found;
	interrupts_count(before, after, 1, &found);
	TEST_ASSERT_EQUAL_INT(-1, found.cpu);
	TEST_ASSERT_EQUAL_INT(0, found.count);
	interrupts_count(NULL, after, 0, &found);
	TEST_ASSERT_EQUAL_INT(-1, found.cpu);
	interrupts_count(before, NULL, 0, &found);
	TEST_ASSERT_EQUAL_INT(-1, found.cpu);
}

static void only_the_most_frequent_are_kept(void)
{
	char text[2048] = "  CPU0\n";
	for (int i = 0; i < 20; i++)
		sprintf(text + strlen(text), "%3d: %d  chip  edge  device%d\n", i, 100 + i * 7 % 20, i);
	interrupts found;
	interrupts_count("  CPU0\n", text, 0, &found);
	TEST_ASSERT_EQUAL_INT(INTERRUPTS_MAX, found.count);
	for (int i = 0; i < INTERRUPTS_MAX; i++)
		TEST_ASSERT_EQUAL_UINT64(119 - i, found.sources[i].count);
	TEST_ASSERT_EQUAL_UINT64(20 * 100 + 190, found.all);
}

// Every prefix of a table, and tables with any byte replaced, are read within their bounds.
static void any_text_is_safe(void)
{
	interrupts found;
	for (size_t cut = 0; cut < sizeof after; cut++) {
		char *text = strdup(after);
		text[cut] = '\0';
		interrupts_count(before, text, 2, &found);
		interrupts_count(text, after, 2, &found);
		free(text);
		for (int byte = 1; byte < 256; byte += 13) {
			text = strdup(after);
			text[cut < sizeof after - 1 ? cut : 0] = (char)byte;
			interrupts_count(before, text, 2, &found);
			TEST_ASSERT_TRUE(found.count >= 0 && found.count <= INTERRUPTS_MAX);
			free(text);
		}
	}
	char *own = interrupts_read();
	interrupts_count(own, own, 0, &found);
	TEST_ASSERT_EQUAL_INT(0, found.count);
	free(own);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(counts_are_those_of_the_cpu_in_descending_order);
	RUN_TEST(a_cpu_that_is_not_listed_has_no_counts);
	RUN_TEST(only_the_most_frequent_are_kept);
	RUN_TEST(any_text_is_safe);
	return UNITY_END();
}
