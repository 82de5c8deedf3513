/* What `status` prints: sections in a fixed order for people, and a document.
 *
 * The order is: that everything is paused, policies that are not in force, the headline (what is
 * going on, is it well, when will it be done), blockers, waves, the nodes that are not idle, locks,
 * other managers at work, gates, what drains may have left behind, the next window. A section with
 * nothing in it is left out. */
#ifndef CLI_STATUS_SHOW_H
#define CLI_STATUS_SHOW_H

#include "base/jsonw.h"
#include "cli/not_in_force.h"
#include "cli/orders.h"
#include "cli/stops.h"
#include "cli/term.h"
#include "engine/survey_sum.h"

enum status_detail {
    DETAILS_NONE = 0,
    DETAILS_NODES = 1,  /* a row for each node */
    DETAILS_HEALTH = 2, /* every blocker, with what to do */
    DETAILS_ALL = DETAILS_NODES | DETAILS_HEALTH,
};

struct status_view {
    const struct survey *survey;
    const struct survey_sum *sum;
    const struct stops *stops;        /* NULL: not known */
    const struct orders *orders;      /* the same */
    const struct idle_policies *idle; /* the same */
    const char *prog;
    unsigned details; /* enum status_detail */
    bool utc;         /* times of day instead of ages */
    int64_t now;
};

enum { STATUS_INDENT = 2 }; /* columns that tables stand further in than the text */

/* `table` has a row for each node, or NULL: then those that are not idle are put together. */
void status_text(const struct status_view *v, const struct str *table, struct term *out);
/* The headline alone, without a newline. */
void status_headline(const struct status_view *v, struct str *out);

/* "node": one node as a member of an array. */
void status_write_node(struct jsonw *w, const struct survey_node *sn, struct arena *arena);
/* Members of the document beside its items: paused, notInForce, orders, summary, blockers, waves,
 * locks, gates, leftBehind, needReboot. */
void status_write_sum(struct jsonw *w, const struct status_view *v);

#endif
