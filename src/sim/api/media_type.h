/* Content types of requests, as Go's mime.ParseMediaType() reads them. */
#ifndef SIM_API_MEDIA_TYPE_H
#define SIM_API_MEDIA_TYPE_H

#include <stdbool.h>

/* Whether the header names this type, with any parameters. What is malformed names none. */
bool media_type_is(const char *header, const char *type);

#endif
