/* Text in quotes as Go's strconv.Quote() writes it, for messages that must read like a server's. */
#ifndef SIM_SCHEMA_GOQUOTE_H
#define SIM_SCHEMA_GOQUOTE_H

#include "base/str.h"

void goquote(struct str *out, const char *s, size_t len);

#endif
