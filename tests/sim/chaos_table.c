/* Which faults have met which calls, as a table. */
#include <inttypes.h>
#include <stdio.h>

#include "chaos.h"

void chaos_counts_add(struct chaos_counts *to, const struct chaos_counts *from) {
    for (int k = 0; k < CHAOS_KINDS; k++) {
        to->calls[k] += from->calls[k];
        for (int f = 0; f < CHAOS_FAULTS; f++)
            for (int a = 0; a < 2; a++)
                to->faults[k][f][a] += from->faults[k][f][a];
    }
}

/* One fault at one kind of call; whether it has happened often enough. */
static bool print_cell(const struct chaos_counts *c, int k, int f, unsigned wanted) {
    char text[32] = "-";
    bool can1 = chaos_possible(k, f, true), can0 = chaos_possible(k, f, false);
    const uint64_t *n = c->faults[k][f];
    if (can1 && can0)
        (void)snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, n[1], n[0]);
    else if (can1)
        (void)snprintf(text, sizeof text, "%" PRIu64 "/-", n[1]);
    else if (can0)
        (void)snprintf(text, sizeof text, k < CHAOS_WRITES ? "-/%" PRIu64 : "%" PRIu64, n[0]);
    printf(" %11s", text);
    return k >= CHAOS_WRITES || k == CHAOS_OTHER ||
           ((!can1 || n[1] >= wanted) && (!can0 || n[0] >= wanted));
}

bool chaos_table(const struct chaos_counts *c, unsigned wanted) {
    bool complete = true;
    printf("\n%-18s", "carried out/lost");
    for (int f = 0; f < CHAOS_FAULTS; f++)
        printf(" %11s", chaos_fault_word(f));
    printf("\n");
    for (int k = 0; k < CHAOS_KINDS; k++) {
        if (!c->calls[k])
            continue;
        printf("%-18s", chaos_kind_word(k));
        for (int f = 0; f < CHAOS_FAULTS; f++)
            complete &= print_cell(c, k, f, wanted);
        printf("   of %" PRIu64 "\n", c->calls[k]);
    }
    printf("every fault at every kind of write %u times or more: %s\n", wanted,
           complete ? "yes" : "no");
    return complete;
}
