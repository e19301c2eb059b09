// Suggest: the known name that is most similar to a mistyped word, for messages that end with "did you mean
// 'NAME'?". Similarity is the edit distance (V. Levenshtein, 1965), except that two characters in the wrong
// order count as one edit (F. Damerau, 1964), and so does a missing end of the name: people leave units and
// extensions out.
#ifndef TAC_BASE_SUGGEST_H
#define TAC_BASE_SUGGEST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_SUGGEST_TEXT 96 // bytes that hold every text of tac_suggestion_text

typedef struct tac_suggestion {
	const char *word;    // as the user typed it
	const char *nearest; // the most similar name so far; NULL: none is similar enough
	size_t distance;     // of `nearest`
	char text[TAC_SUGGEST_TEXT];
} tac_suggestion;

// A suggestion for `word`, which must outlive it. Thread: any.
tac_suggestion tac_suggestion_begin(const char *word);

// Considers `name`, which must outlive the suggestion. A name is similar enough if at most a third of the
// word's characters, rounded up, have to be edited. Of equally similar names the first offered wins; at most
// 63 characters are compared. Thread: any.
void tac_suggestion_offer(tac_suggestion *suggestion, const char *name);

// "; did you mean 'NAME'?", or "" if no name was similar enough. Valid as long as the suggestion.
// Thread: any.
const char *tac_suggestion_text(tac_suggestion *suggestion);

#ifdef __cplusplus
}
#endif

#endif
