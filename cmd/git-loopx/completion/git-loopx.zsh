#compdef git-loopx
# zsh completion of git-loopx, and of "git loopx" through zsh's own completion of git.
# Put it into a directory of $fpath as _git-loopx, or source it after compinit.

_git-loopx ()
{
	local line value
	local -a described plain
	# words begins with git-loopx, or with loopx where git's completion calls.
	for line in "${(@f)$(command git-loopx __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		value=${line%%$'\t'*}
		[[ -n $value ]] || continue
		if [[ $value == :files ]]; then
			_files
			return
		fi
		if [[ $line == *$'\t'* ]]; then
			described+=("${value//:/\\:}:${line#*$'\t'}")
		else
			plain+=("$value")
		fi
	done
	(( $#described + $#plain )) || return 1
	(( $#plain )) && compadd -- "$plain[@]"
	(( $#described )) && _describe -t git-loopx 'git loopx' described
}

zstyle -g _git_loopx_commands ':completion:*:*:git:*' user-commands
if (( ! ${_git_loopx_commands[(I)loopx:*]} )); then
	zstyle ':completion:*:*:git:*' user-commands $_git_loopx_commands 'loopx:hand work over between sessions'
fi
unset _git_loopx_commands

if [[ $funcstack[1] == _git-loopx ]]; then
	_git-loopx "$@"
else
	compdef _git-loopx git-loopx
fi
