#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

#define COMPARED 63 // characters

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t edit_distance(const char *word, const char *name)
{
	size_t row[COMPARED + 1];
	const size_t words = strnlen(word, COMPARED), names = strnlen(name, COMPARED);
	for (size_t j = 0; j <= names; j++)
		row[j] = j;
	for (size_t i = 1; i <= words; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= names; j++) {
			const size_t replaced = diagonal + (word[i - 1] != name[j - 1]);
			diagonal = row[j];
			row[j] = smaller(1 + smaller(row[j], row[j - 1]), replaced);
		}
	}
	size_t least = row[names];
	for (size_t j = 0; j < names; j++)
		least = smaller(least, row[j] + 1); // the name's end is missing
	return least;
}

tac_suggestion tac_suggestion_begin(const char *word)
{
	return (tac_suggestion){.word = word, .distance = (strnlen(word, COMPARED) + 2) / 3 + 1};
}

void tac_suggestion_offer(tac_suggestion *suggestion, const char *name)
{
	const size_t distance = *suggestion->word ? edit_distance(suggestion->word, name) : COMPARED;
	if (distance >= suggestion->distance)
		return;
	suggestion->distance = distance;
	suggestion->nearest = name;
}

const char *tac_suggestion_text(tac_suggestion *suggestion)
{
	suggestion->text[0] = '\0';
	if (suggestion->nearest)
		snprintf(suggestion->text, sizeof suggestion->text, "; did you mean '%.64s'?",
			 suggestion->nearest);
	return suggestion->text;
}
