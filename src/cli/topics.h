/* Help topics: what is true for all verbs. The same facts are sections of the manual page. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "cli/exit.h"

struct topic {
    const char *name;
    const char *summary;
    const char *text;                                /* markup; comes first */
    void (*list)(const char *prog, struct str *out); /* what is generated; NULL: nothing */
};

extern const struct topic topics[];
extern const size_t n_topics;
const struct topic *topic_find(const char *name);

/* Environment variables: those of options, and the others. */
struct env_row {
    const char *name;
    const char *flag;  /* the option it stands for, without dashes; NULL: none */
    const char *about; /* when there is no flag */
};
/* fn is called for every variable once, those of options first. */
void env_each(void (*fn)(void *arg, const struct env_row *row), void *arg);

/* Whether some visible verb can end with this code. */
struct verb;
bool exit_is_used(enum exit_code code);
/* The same for one verb; every verb can be done, fail and be called wrongly. */
bool exit_is_used_by(enum exit_code code, const struct verb *verb);

#endif
