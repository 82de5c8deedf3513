/* What values of Slipway's own custom resources have to be, beyond their type, length and range,
 * and the sentence that says so. The rows of model/own_fields.h name these tables; own_check()
 * (model/own_read.h) and the API server go by them.
 *
 * Tables end with a row of zeros. */
#ifndef MODEL_OWN_RULES_H
#define MODEL_OWN_RULES_H

#include <stdbool.h>

enum { OWN_NODES_MAX = 1000000 }; /* more than any cluster has; the sentence names it, too */

/* Something that a value has to be. The server decides by the CEL expression, and those who read
 * the object by the function: of a text it gets the text, of a number or text the struct intstr, of
 * an object its struct. Either may be missing: what stays JSON is checked by who reads that, and
 * some things cannot be said in CEL. */
struct own_rule {
    const char *cel;
    const char *message; /* what is shown: as little of the value as of the expression */
    bool (*holds)(const void *value);
};

/* Of texts; a count is a number or a text. */
extern const struct own_rule own_duration_rules[], own_count_rules[], own_group_rules[],
    own_app_id_rules[], own_node_name_rules[], own_url_rules[], own_node_set_rules[];

/* Of label selectors, and of one condition in them. */
extern const struct own_rule own_selector_rules[], own_requirement_rules[];

/* Of drain rules: one of them, its priorities, its steps. No function decides these. */
extern const struct own_rule own_rule_rules[], own_priority_rules[], own_steps_rules[];

/* Of an executor, of specs, and of a whole Policy. */
extern const struct own_rule own_executor_rules[], own_maintenance_spec_rules[],
    own_rollout_spec_rules[], own_policy_rules[];

#endif
