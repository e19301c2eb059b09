#include "apps/report/plot.h"

#include "unity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t text_size;
static FILE *file;

void setUp(void)
{
	file = open_memstream(&text, &text_size);
	TEST_ASSERT_NOT_NULL(file);
}

void tearDown(void)
{
	fclose(file);
	free(text);
}

static int occurrences(const char *word)
{
	fflush(file);
	int count = 0;
	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		count++;
	return count;
}

static void numbers_carry_the_si_prefix_a_person_would_write(void)
{
	static const struct {
		double value;
		const char *unit, *expected;
	} cases[] = {
		{999.9e-6, "s", "1 ms"}, {12e-6, "s", "12 µs"},  {1.5e-3, "s", "1.5 ms"},  {1, "s", "1 s"},
		{0, "s", "0 s"},         {-0.0, "", "0"},        {2500, "", "2.5 k"},      {1000, "", "1 k"},
		{0.001, "", "0.001"},    {-3e-9, "s", "-3 ns"},  {10e6, "N/m", "10 MN/m"}, {0.5, NULL, "0.5"},
		{1e-10, "s", "100 ps"},  {999.5, NULL, "999.5"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char out[48];
		TEST_ASSERT_EQUAL_STRING(cases[i].expected,
					 plot_format_number(cases[i].value, cases[i].unit, out, sizeof out));
	}
}

static void axes_end_on_whole_ticks_and_decades(void)
{
	const double values[] = {0.3, 7.2, (double)NAN, HUGE_VAL};
	plot_axis linear = plot_axis_fit("", "", false, values, 4);
	TEST_ASSERT_TRUE(linear.min == 0 && linear.max == 8);
	const double times[] = {3e-6, 0, -1, 2e-2};
	plot_axis decades = plot_axis_fit("", "s", true, times, 4);
	TEST_ASSERT_TRUE(fabs(decades.min - 1e-6) < 1e-15 && fabs(decades.max - 0.1) < 1e-9);
	plot_axis empty = plot_axis_fit("", "", false, NULL, 0);
	TEST_ASSERT_TRUE(empty.max > empty.min);
	const double same[] = {5, 5};
	plot_axis one = plot_axis_fit("", "", false, same, 2);
	TEST_ASSERT_TRUE(one.max > one.min);
}

static void each_mark_is_drawn_once_and_a_gap_breaks_the_line(void)
{
	plot_def def = plot_def_default();
	def.title = "a < b & \"c\"";
	plot p;
	plot_begin(&p, file, &def);
	plot_line(&p, "one", 0, (double[]){0, 0.5, (double)NAN, 0.7, 1}, (double[]){0, 1, 1, 0.2, 5}, 5);
	plot_histogram(&p, NULL, 1, (double[]){0, 0.25, 0.5, 1}, (double[]){0.5, 0, 1}, 3);
	plot_dots(&p, "dots", 2, (double[]){0.1, 0.2}, (double[]){0.1, (double)NAN}, 2, NULL);
	TEST_ASSERT_TRUE(plot_end(&p));
	TEST_ASSERT_EQUAL_INT(1, occurrences("<svg"));
	TEST_ASSERT_EQUAL_INT(1, occurrences("</svg>"));
	TEST_ASSERT_EQUAL_INT(2, occurrences("class=\"bar f1\""));
	TEST_ASSERT_EQUAL_INT(1, occurrences("<circle"));
	TEST_ASSERT_EQUAL_INT(2, occurrences("class=\"key\""));
	TEST_ASSERT_EQUAL_INT(0, occurrences("nan"));
	TEST_ASSERT_EQUAL_INT(0, occurrences("a < b"));
	const char *path = strstr(text, "<path class=\"line s0\" d=\"");
	TEST_ASSERT_NOT_NULL(path);
	int moves = 0;
	for (const char *at = path; at < strstr(path, "/>"); at++)
		moves += *at == 'M';
	TEST_ASSERT_EQUAL_INT(2, moves);
}

// At 3.4 pixels for half a letter; the ticks' typeface has about 6.8 pixels a letter.
static void the_last_tick_is_not_cut_off(void)
{
	const plot_def def = {.width = 720,
			      .height = 200,
			      .x = {.label = "", .unit = "m", .log = true, .min = 1e-4, .max = 0.1},
			      .y = {.label = "", .unit = "", .max = 1}};
	plot p;
	plot_begin(&p, file, &def);
	plot_end(&p);
	fflush(file);
	const char *last = strstr(text, ">100 mm<");
	TEST_ASSERT_NOT_NULL(last);
	while (last > text && strncmp(last, "x=\"", 3) != 0)
		last--;
	const double middle = strtod(last + 3, NULL);
	TEST_ASSERT_TRUE(middle > 650 && middle + 3.4 * (double)strlen("100 mm") <= def.width);
}

static void values_outside_the_axes_are_clamped_to_the_frame(void)
{
	plot_def def = plot_def_default();
	plot p;
	plot_begin(&p, file, &def);
	plot_line(&p, NULL, 0, (double[]){-5, 7}, (double[]){-2, 9}, 2);
	plot_end(&p);
	char expected[96];
	snprintf(expected, sizeof expected, "d=\"M%.1f %.1fL%.1f %.1f\"", p.left, p.bottom, p.right, p.top);
	TEST_ASSERT_EQUAL_INT(1, occurrences(expected));
}

// Text has an outline in the colour of the paper, which hides only what was drawn before it.
static void labels_of_rules_lie_over_all_rules(void)
{
	plot_def def = plot_def_default();
	plot p;
	plot_begin(&p, file, &def);
	plot_rule_x(&p, 0.1, "first");
	plot_rule_x(&p, 0.15, "second");
	plot_rule_x(&p, 0.9, "last");
	plot_end(&p);
	TEST_ASSERT_EQUAL_INT(3, occurrences("class=\"rule\""));
	TEST_ASSERT_EQUAL_INT(3, occurrences("class=\"rule-label\""));
	const char *line = text, *next;
	while ((next = strstr(line + 1, "class=\"rule\"")))
		line = next;
	TEST_ASSERT_TRUE(strstr(text, "class=\"rule-label\"") > line);
	TEST_ASSERT_TRUE(strstr(text, ">first<") && strstr(text, ">second<") && strstr(text, ">last<"));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(numbers_carry_the_si_prefix_a_person_would_write);
	RUN_TEST(axes_end_on_whole_ticks_and_decades);
	RUN_TEST(each_mark_is_drawn_once_and_a_gap_breaks_the_line);
	RUN_TEST(the_last_tick_is_not_cut_off);
	RUN_TEST(labels_of_rules_lie_over_all_rules);
	RUN_TEST(values_outside_the_axes_are_clamped_to_the_frame);
	return UNITY_END();
}
