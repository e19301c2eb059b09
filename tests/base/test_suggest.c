#include "base/suggest.h"

#include <unity.h>

#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static const char *suggest(const char *word)
{
	static const char *const names[] = {"sphere", "stylus",  "peg",
					    "tooth",  "seconds", "stiffness_N_per_m"};
	tac_suggestion s = tac_suggestion_begin(word);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		tac_suggestion_offer(&s, names[i]);
	return s.nearest;
}

static void a_typing_error_finds_its_name(void)
{
	TEST_ASSERT_EQUAL_STRING("sphere", suggest("spehre"));
	TEST_ASSERT_EQUAL_STRING("peg", suggest("pge")); // one exchange, but two replacements
	TEST_ASSERT_EQUAL_STRING("peg", suggest("epg"));
	TEST_ASSERT_EQUAL_STRING("sphere", suggest("spere"));
	TEST_ASSERT_EQUAL_STRING("sphere", suggest("spheres"));
	TEST_ASSERT_EQUAL_STRING("tooth", suggest("toot"));
	TEST_ASSERT_EQUAL_STRING("seconds", suggest("sconds"));
}

static void a_missing_end_is_one_edit(void)
{
	TEST_ASSERT_EQUAL_STRING("stiffness_N_per_m", suggest("stiffness"));
	TEST_ASSERT_EQUAL_STRING("stiffness_N_per_m", suggest("stifness"));
}

static void a_different_word_has_no_suggestion(void)
{
	TEST_ASSERT_NULL(suggest("unicorn"));
	TEST_ASSERT_NULL(suggest(""));
	TEST_ASSERT_NULL(suggest("x"));
	TEST_ASSERT_NULL(suggest("gpe")); // a rotation is no exchange of neighbours
	tac_suggestion s = tac_suggestion_begin("unicorn");
	TEST_ASSERT_EQUAL_STRING("", tac_suggestion_text(&s));
}

static void the_text_is_the_end_of_a_message_and_fits(void)
{
	tac_suggestion s = tac_suggestion_begin("pegg");
	tac_suggestion_offer(&s, "peg");
	TEST_ASSERT_EQUAL_STRING("; did you mean 'peg'?", tac_suggestion_text(&s));
	char word[200], name[200];
	memset(word, 'a', sizeof word - 1);
	memset(name, 'a', sizeof name - 1);
	word[sizeof word - 1] = name[sizeof name - 1] = '\0';
	s = tac_suggestion_begin(word);
	tac_suggestion_offer(&s, name);
	TEST_ASSERT_EQUAL_STRING_LEN("; did you mean 'aaa", tac_suggestion_text(&s), 18);
	TEST_ASSERT_TRUE(strlen(tac_suggestion_text(&s)) < TAC_SUGGEST_TEXT);
}

static void of_equally_similar_names_the_first_wins(void)
{
	tac_suggestion s = tac_suggestion_begin("cat");
	tac_suggestion_offer(&s, "bat");
	tac_suggestion_offer(&s, "rat");
	TEST_ASSERT_EQUAL_STRING("bat", s.nearest);
	tac_suggestion_offer(&s, "cat");
	TEST_ASSERT_EQUAL_STRING("cat", s.nearest);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_typing_error_finds_its_name);
	RUN_TEST(a_missing_end_is_one_edit);
	RUN_TEST(a_different_word_has_no_suggestion);
	RUN_TEST(the_text_is_the_end_of_a_message_and_fits);
	RUN_TEST(of_equally_similar_names_the_first_wins);
	return UNITY_END();
}
