/* What `doctor` asks the API server itself: whether it answers, its version and clock, and each
 * permission that Slipway needs. And the list of findings that everything is written to. */
#ifndef CLI_DOCTOR_SERVER_H
#define CLI_DOCTOR_SERVER_H

#include "cli/session.h"

struct doctor_finding {
    enum state state;
    const char *check; /* stable word */
    char *text, *hint; /* hint may be NULL */
};

struct doctor_findings {
    VEC(struct doctor_finding) list;
};

/* Takes the texts over. */
void doctor_find(struct doctor_findings *f, enum state state, const char *check, char *text,
                 char *hint);
void doctor_findings_done(struct doctor_findings *f);

/* 0, or the exit code after having said why: without a server there is nothing else to find. */
int doctor_ask_server(struct session *s, struct doctor_findings *f);
/* Each permission is asked from the server (SelfSubjectAccessReview), all at once; those for
 * systems that not every cluster has only where discovery shows them. */
void doctor_ask_permissions(struct session *s, struct doctor_findings *f);

#endif
