# Completion of tactus for bash. Commands and options come from the program's --help, so they are never out of date.
_tactus()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words help
	# As the shell would read the word: a path may be quoted, or have its spaces escaped.
	local program=${COMP_WORDS[0]//[\\\'\"]/}
	program=${program/#~\//$HOME/}
	if ((COMP_CWORD == 1)); then
		words="--help --version $("$program" --help 2>/dev/null | awk '/^  [a-z]/ { print $1 }')"
	else
		help=$("$program" "$command" --help 2>/dev/null)
		if [[ $before == --device* ]]; then
			words=$("$program" devices 2>/dev/null | awk '$1 == "--device" { print $2 }')
			COMPREPLY=($(compgen -W "$words mouse playback:" -- "$word"))
			[[ $word != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}") # bash splits words at colons
			return
		elif [[ $before == --* ]]; then
			words=$(awk -v name="$before" '$1 == name && $2 ~ /\|/ { gsub(/\|/, " ", $2); print $2 }' <<<"$help")
			if [[ -z $words && $(awk -v name="$before" '$1 == name { print NF }' <<<"$help") == 2 ]]; then
				COMPREPLY=($(compgen -f -- "$word"))
				return
			fi
		fi
		if [[ -z $words ]]; then
			words=$(awk '/^  --/ { print $1 }' <<<"$help")
			[[ $command != run && $command != render && $before != --scene ]] ||
				words+=" $("$program" run --help 2>/dev/null | sed -n '/^ *SCENE$/,/;/{/SCENE$/d;s/;.*//;p}' | tr , ' ')"
			[[ $word == -* ]] || { COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word")); return; }
		fi
	fi
	COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o filenames -F _tactus tactus
