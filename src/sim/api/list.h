/* Which records a list is about: what LIST answers with and what DELETE of a collection removes.
 * Both read the same options in the same way. */
#ifndef SIM_API_LIST_H
#define SIM_API_LIST_H

#include "sim/api/api_internal.h"
#include "sim/api/print.h"

/* A page: those of snap->items[at..end) that match the filter. */
struct list_page {
    struct snapshot *snap;
    struct filter filter;
    size_t at, end;
    struct list_head head; /* its token belongs to the page; NULL: nothing follows */
};

/* Chooses the page by resourceVersion, continue, limit and the selectors; or a failure with the
 * server's words (400, 410, 504), after which there is nothing to free. */
int list_page_init(struct list_page *p, struct call *c, const struct list_options *o,
                   struct failure *f);
void list_page_done(struct list_page *p);

#endif
