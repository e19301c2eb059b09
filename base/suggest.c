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
	size_t rows[3][COMPARED + 1]; // of the character, of the one before it and of the one before that
	const size_t words = strnlen(word, COMPARED), names = strnlen(name, COMPARED);
	for (size_t j = 0; j <= names; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= words; i++) {
		size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= names; j++) {
			row[j] = smaller(1 + smaller(last[j], row[j - 1]),
					 last[j - 1] + (word[i - 1] != name[j - 1]));
			if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1])
				row[j] = smaller(row[j], before[j - 2] + 1);
		}
	}
	size_t least = rows[words % 3][names];
	for (size_t j = 0; j < names; j++)
		least = smaller(least, rows[words % 3][j] + 1); // the name's end is missing
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
