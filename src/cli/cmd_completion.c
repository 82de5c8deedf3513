/* The verb `completion`: scripts that teach a shell to complete our command lines.
 *
 * The scripts are thin: they hand the words to `slipway __complete` and show what it says. What was
 * typed is never evaluated. */
#include "cli/cli.h"
#include "cli/verb.h"

/* bash splits words at = and : as well, in COMP_WORDS and when it replaces the last one: words are
 * put together again, and what bash keeps of the last word is cut from the candidates. */
static const char bash_script[] =
    "# bash completion for slipway; load it with: source <(slipway completion bash)\n"
    "_slipway() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} rest word i words=() out=() directive cut value\n"
    "    COMPREPLY=()\n"
    "    rest=${line#*\"${COMP_WORDS[0]}\"}\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ ${#words[@]} -eq 0 || $rest == [[:space:]]* ]]; then\n"
    "            rest=${rest#\"${rest%%[![:space:]]*}\"}\n"
    "            words+=('')\n"
    "        fi\n"
    "        ((i < COMP_CWORD)) || word=$rest\n"
    "        rest=${rest#\"$word\"}\n"
    "        words[${#words[@]} - 1]+=${word//[\\'\\\"\\\\]/}\n"
    "    done\n"
    "    [[ ${#words[@]} -gt 0 ]] || words=('')\n"
    "    local command=${COMP_WORDS[0]/#\\~\\//$HOME/} cur=${words[${#words[@]} - 1]}\n"
    "    type -P \"$command\" >/dev/null || command=slipway\n"
    "    mapfile -t out < <(\"$command\" __complete -- \"${words[@]}\" 2>/dev/null)\n"
    "    [[ ${#out[@]} -gt 0 ]] || return\n"
    "    directive=${out[${#out[@]} - 1]#:}\n"
    "    unset 'out[${#out[@]} - 1]'\n"
    "    local flag=''\n"
    "    [[ $cur == -*=* ]] && flag=${cur%%=*}= cur=${cur#*=}\n"
    "    [[ $COMP_WORDBREAKS == *=* ]] && flag=''\n"
    "    cut=''\n"
    "    [[ $COMP_WORDBREAKS == *:* && $cur == *:* ]] && cut=${cur%\"${cur##*:}\"}\n"
    "    for value in \"${out[@]}\"; do\n"
    "        value=${value%%$'\\t'*}\n"
    "        value=${value#\"$cut\"}\n"
    "        printf -v value %q \"$value\"\n"
    "        COMPREPLY+=(\"$flag$value\")\n"
    "    done\n"
    "    ((directive & 2)) && compopt -o nospace 2>/dev/null\n"
    "    ((directive & 4)) || compopt -o default 2>/dev/null\n"
    "    return 0\n"
    "}\n"
    "complete -F _slipway slipway\n";

static const char zsh_script[] =
    "#compdef slipway\n"
    "# zsh completion for slipway; load it with: source <(slipway completion zsh)\n"
    "_slipway() {\n"
    "    local -a out shown\n"
    "    local line value about directive\n"
    "    out=(\"${(@f)$(\"${(Q)words[1]}\" __complete -- \"${(@Q)words[2,CURRENT-1]}\" "
    "\"${(Q)PREFIX}\" 2>/dev/null)}\")\n"
    "    directive=${out[-1]#:}\n"
    "    [[ $directive == <-> ]] || return 1\n"
    "    for line in \"${(@)out[1,-2]}\"; do\n"
    "        value=${line%%$'\\t'*}\n"
    "        about=${line#*$'\\t'}\n"
    "        value=${value//:/\\\\:}\n"
    "        [[ $line == *$'\\t'* ]] && value=$value:$about\n"
    "        shown+=(\"$value\")\n"
    "    done\n"
    "    [[ $PREFIX == -*=* ]] && compset -P '*='\n"
    "    local -a options\n"
    "    (( directive & 2 )) && options+=(-S '')\n"
    "    local found=1\n"
    "    (( ${#shown} )) && _describe -t slipway slipway shown \"${(@)options}\" && found=0\n"
    "    (( directive & 4 )) || { _files && found=0 }\n"
    "    return found\n"
    "}\n"
    "if [[ ${funcstack[1]} == _slipway ]]; then\n"
    "    _slipway \"$@\"\n"
    "elif (( ${+functions[compdef]} )); then\n"
    "    compdef _slipway slipway\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion for slipway; load it with: slipway completion fish | source\n"
    "function __slipway_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l last (commandline -ct)\n"
    "    set -l command $words[1]\n"
    "    set -e words[1]\n"
    "    set -l out ($command __complete -- $words \"$last\" 2>/dev/null)\n"
    "    set -l directive (string replace -r '^:' '' -- $out[-1])\n"
    "    string match -qr '^[0-9]+$' -- \"$directive\"; or return\n"
    "    set -e out[-1]\n"
    "    # A candidate for \"--flag=wo\" is the value alone; fish wants the whole word.\n"
    "    set -l flag (string match -r -- '^-[^=]*=' \"$last\")\n"
    "    for line in $out\n"
    "        echo -- \"$flag$line\"\n"
    "    end\n"
    "    if test (math \"floor($directive / 4) % 2\") -eq 0\n"
    "        __fish_complete_path (string replace -r -- '^-[^=]*=' '' \"$last\")\n"
    "    end\n"
    "end\n"
    "complete -c slipway -f -k -a '(__slipway_complete)'\n";

static int run(struct cli *cli, int argc, char **argv) {
    (void)argc;
    str_add(&cli->out.buf, streq(argv[0], "bash")  ? bash_script
                           : streq(argv[0], "zsh") ? zsh_script
                                                   : fish_script);
    return EXIT_DONE;
}

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

const struct verb verb_completion = {
    .name = "completion",
    .summary = "Print a script that completes commands in a shell",
    .args = "bash|zsh|fish",
    .text = "The script asks this program what can follow: verbs, flags, their values, contexts. "
            "Packages install it; without one, load it in the shell's start-up file.\n"
            "\n"
            "For 'kubectl slipway' nothing is needed but kubectl's own completion and the link "
            "kubectl_complete-slipway in the search path.",
    .examples = {{"For all bash users", "completion bash >/etc/bash_completion.d/slipway"},
                 {"For all zsh users", "completion zsh >/usr/share/zsh/site-functions/_slipway"},
                 {"For fish", "completion fish >~/.config/fish/completions/slipway.fish"}},
    .min_args = 1,
    .max_args = 1,
    .arg_hint = HINT_WORDS,
    .arg_words = shells,
    .see_also = (const char *const[]){"help", NULL},
    .run = run,
};
