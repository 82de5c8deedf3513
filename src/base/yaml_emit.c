/* YAML from jansson values, through libyaml's emitter. */
#include "base/yaml_emit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/json.h"
#include "base/mem.h"

/* Texts that YAML 1.1 resolves to something else than a text: go-yaml's and therefore kubectl's
 * list, plus everything that looks like a number, a date or a merge key. */
static bool needs_quotes(const char *s) {
    static const char *const words[] = {"true", "false", "yes",   "no",   "on",   "off",
                                        "y",    "n",     "null",  "~",    ".nan", ".inf",
                                        "<<",   "=",     "-.inf", "+.inf"};
    if (!*s)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!strcasecmp(s, words[i]))
            return true;
    /* Numbers in any notation (0x1f, 0o7, 1_000, 1e3, 12:30:45) and dates: quoting a few texts too
     * many costs nothing, one too few changes their type. */
    bool digit = false;
    const char *p = s, *dot = strchr(s, '.');
    /* A version or an address has two dots; a number has not. */
    if (dot && strchr(dot + 1, '.') && !s[strspn(s, "0123456789.")])
        return false;
    for (; *p && strchr("+-.0123456789_:,abcdefABCDEFxXoOtTzZ ", *p); p++)
        digit |= isdigit((unsigned char)*p) != 0;
    return !*p && digit && (isdigit((unsigned char)*s) || strchr("+-.", *s));
}

static int append(void *arg, unsigned char *p, size_t len) {
    str_addn(arg, p, len);
    return 1;
}

static yaml_scalar_style_t text_style(const char *s, size_t len) {
    if (memchr(s, '\n', len) && !strchr(" \n\t", s[0]) && !strstr(s, " \n") && !strchr(s, '\t'))
        return YAML_LITERAL_SCALAR_STYLE;
    return needs_quotes(s) || strlen(s) != len ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
                                               : YAML_PLAIN_SCALAR_STYLE;
}

static bool emit_scalar(yaml_emitter_t *e, const char *s, size_t len, yaml_scalar_style_t style) {
    yaml_event_t event;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)s, (int)len, 1, 1,
                                        style) &&
           yaml_emitter_emit(e, &event);
}

static bool emit_real(yaml_emitter_t *e, double v) {
    char text[JSON_REAL_TEXT];
    json_real_text(v, text);
    return emit_scalar(e, text, strlen(text), YAML_PLAIN_SCALAR_STYLE);
}

/* Recursion is as deep as the document, which jansson and jsonw have limited. */
static bool emit_value(yaml_emitter_t *e, const json_t *v) {
    yaml_event_t event;
    size_t i;
    const char *key;
    json_t *child;
    char buf[32];
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        if (!yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                 json_object_size(v) ? YAML_BLOCK_MAPPING_STYLE
                                                                     : YAML_FLOW_MAPPING_STYLE) ||
            !yaml_emitter_emit(e, &event))
            return false;
        json_object_foreach((json_t *)v, key, child) {
            yaml_scalar_style_t style = text_style(key, strlen(key));
            if (style == YAML_LITERAL_SCALAR_STYLE)
                style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
            if (!emit_scalar(e, key, strlen(key), style) || !emit_value(e, child))
                return false;
        }
        return yaml_mapping_end_event_initialize(&event) && yaml_emitter_emit(e, &event);
    case JSON_ARRAY:
        if (!yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                  json_array_size(v) ? YAML_BLOCK_SEQUENCE_STYLE
                                                                     : YAML_FLOW_SEQUENCE_STYLE) ||
            !yaml_emitter_emit(e, &event))
            return false;
        json_array_foreach(v, i, child) if (!emit_value(e, child)) return false;
        return yaml_sequence_end_event_initialize(&event) && yaml_emitter_emit(e, &event);
    case JSON_STRING:
        return emit_scalar(e, json_string_value(v), json_string_length(v),
                           text_style(json_string_value(v), json_string_length(v)));
    case JSON_INTEGER:
        snprintf(buf, sizeof buf, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        return emit_scalar(e, buf, strlen(buf), YAML_PLAIN_SCALAR_STYLE);
    case JSON_REAL:
        return emit_real(e, json_real_value(v));
    case JSON_TRUE:
        return emit_scalar(e, "true", 4, YAML_PLAIN_SCALAR_STYLE);
    case JSON_FALSE:
        return emit_scalar(e, "false", 5, YAML_PLAIN_SCALAR_STYLE);
    case JSON_NULL:
        return emit_scalar(e, "null", 4, YAML_PLAIN_SCALAR_STYLE);
    }
    return false;
}

static bool emit_stream(yaml_emitter_t *e, const json_t *value) {
    yaml_event_t event;
    return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
           yaml_emitter_emit(e, &event) &&
           yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
           yaml_emitter_emit(e, &event) && emit_value(e, value) &&
           yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(e, &event) &&
           yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(e, &event);
}

int yaml_emit(const json_t *value, bool ascii, struct str *out, struct err *err) {
    yaml_emitter_t e;
    if (!yaml_emitter_initialize(&e))
        return err_set(err, ENOMEM, "cannot write YAML: out of memory");
    yaml_emitter_set_output(&e, append, out);
    yaml_emitter_set_unicode(&e, !ascii);
    yaml_emitter_set_width(&e, -1);
    int r = 0;
    if (!emit_stream(&e, value))
        r = err_set(err, EINVAL, "cannot write YAML: %s", e.problem ? e.problem : "out of memory");
    yaml_emitter_delete(&e);
    return r;
}
