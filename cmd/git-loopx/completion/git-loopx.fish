# fish completion of git-loopx, and of "git loopx" beside fish's own completion of git.
# Put it into ~/.config/fish/conf.d/git-loopx.fish, or source it.

function __git_loopx_candidates
    set -l words (commandline -opc)
    # The words after git-loopx, or after git … loopx.
    set -l at 1
    if test (basename -- "$words[1]") != git-loopx
        set at (contains -i -- loopx $words); or return
    end
    set -e words[1..$at]
    set -l found (command git-loopx __complete -- $words (commandline -ct) 2>/dev/null)
    if test "$found[1]" = :files
        __fish_complete_path (commandline -ct)
        return
    end
    printf '%s\n' $found
end

complete -c git-loopx -f -a '(__git_loopx_candidates)'
complete -c git -n '__fish_seen_subcommand_from loopx' -f -a '(__git_loopx_candidates)'
complete -c git -n 'not __fish_seen_subcommand_from loopx; and test (count (commandline -opc)) -eq 1' -f -a loopx -d 'hand work over between sessions'
