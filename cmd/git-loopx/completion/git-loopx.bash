# bash completion of git-loopx, and of "git loopx" through git's own completion.
# Put it where bash-completion finds it, as git-loopx, or source it.

# Fills COMPREPLY with what git-loopx offers for the words after "git loopx", the last being the one at the cursor.
# The first argument is put after each candidate.
__git_loopx_reply ()
{
	local after=$1 value rest cur strip=
	shift
	cur=${!#}
	COMPREPLY=()
	# What readline takes for a word begins after the last of these characters.
	case $cur in
	*:*) case $COMP_WORDBREAKS in *:*) strip=${cur%"${cur##*:}"} ;; esac ;;
	*=*) case $COMP_WORDBREAKS in *=*) strip=${cur%"${cur##*=}"} ;; esac ;;
	esac
	while IFS=$'\t' read -r value rest; do
		if [ "$value" = :files ]; then
			compopt +o nospace -o filenames -o default 2>/dev/null
			COMPREPLY=()
			return
		fi
		COMPREPLY+=("${value#"$strip"}$after")
	done < <(
		if declare -F __git >/dev/null; then
			__git loopx __complete -- "$@" 2>/dev/null
		else
			git-loopx __complete -- "$@" 2>/dev/null
		fi
	)
}

# git's completion calls this one for "git loopx"; words and cword are its own, and it wants no space put after.
_git_loopx ()
{
	local i=${__git_cmd_idx:-0}
	if [ "$i" -eq 0 ]; then
		for ((i = 1; i < cword; i++)); do
			[ "${words[i]}" = loopx ] && break
		done
	fi
	__git_loopx_reply " " "${words[@]:i+1:cword-i}"
}

_git_loopx_alone ()
{
	local words cword cur prev
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n =: cur prev words cword
	else
		words=("${COMP_WORDS[@]}")
		cword=$COMP_CWORD
	fi
	__git_loopx_reply "" "${words[@]:1:cword}"
}

complete -F _git_loopx_alone git-loopx
