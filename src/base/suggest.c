/* The valid word nearest to a mistyped one. */
#include "base/suggest.h"

#include <stdbool.h>

#include "base/mem.h"
#include "base/utf8.h"

/* More names than this do not help whoever reads them. */
enum { LIST_MAX = 10 };

/* The letters that count. False when there are more than fit. */
static bool fold(const char *s, unsigned char out[SUGGEST_WORD], size_t *len) {
    size_t n = 0;
    for (; *s; s++) {
        if (*s == '-' || *s == '_')
            continue;
        if (n == SUGGEST_WORD)
            return false;
        out[n++] = (unsigned char)(*s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s);
    }
    *len = n;
    return true;
}

size_t suggest_distance(const char *a, const char *b) {
    unsigned char x[SUGGEST_WORD], y[SUGGEST_WORD];
    size_t n, m;
    if (!fold(a, x, &n) || !fold(b, y, &m))
        return SUGGEST_WORD;
    /* Three rows of the usual matrix: this one, the last and, for swaps, the one before. */
    size_t rows[3][SUGGEST_WORD + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t d = last[j - 1] + (x[i - 1] != y[j - 1]);
            d = MIN_OF(d, last[j] + 1);
            d = MIN_OF(d, row[j - 1] + 1);
            if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
                d = MIN_OF(d, before[j - 2] + 1);
            row[j] = d;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[m];
}

const char *suggest_nearest(const char *word, const char *const *words, size_t n) {
    const char *best = NULL;
    size_t best_distance = SUGGEST_MAX + 1;
    for (size_t i = 0; i < n; i++) {
        size_t d = suggest_distance(word, words[i]);
        /* A distance as long as the words themselves means that nothing was left of them. */
        size_t longest = MAX_OF(strlen(word), strlen(words[i]));
        if (d < best_distance && (d == 0 || d < longest)) {
            best = words[i];
            best_distance = d;
        }
    }
    return best;
}

struct ranked {
    const char *word;
    size_t distance, order;
};

static int by_rank(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

void suggest_list(struct str *out, const char *word, const char *const *words, size_t n) {
    if (!n) {
        str_add(out, "none");
        return;
    }
    struct ranked *r = xcalloc(n, sizeof *r);
    for (size_t i = 0; i < n; i++)
        r[i] = (struct ranked){words[i], word ? suggest_distance(word, words[i]) : 0, i};
    qsort(r, n, sizeof *r, by_rank);
    /* "and 1 more" would take as much room as the name itself. */
    size_t shown = n <= LIST_MAX + 1 ? n : LIST_MAX;
    for (size_t i = 0; i < shown; i++) {
        str_add(out, i ? ", \"" : "\"");
        utf8_printable(out, r[i].word);
        str_addc(out, '"');
    }
    if (shown < n)
        str_addf(out, " and %zu more", n - shown);
    free(r);
}
