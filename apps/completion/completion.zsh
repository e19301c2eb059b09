#compdef tactus
# Completion of tactus for zsh. Commands and options come from the program's --help, so they are never out of date.
_tactus() {
	local program=$words[1] command=$words[2]
	local -a found
	if ((CURRENT == 2)); then
		found=(${(f)"$($program --help 2>/dev/null | awk '/^  [a-z]/ { name = $1; $1 = ""; print name ":" substr($0, 2) }')"})
		_describe command found
	elif [[ $words[CURRENT-1] == --device* ]]; then
		found=(${(f)"$($program devices 2>/dev/null | awk '$1 == "--device" { print $2 }')"} mouse)
		compadd -- $found
	else
		found=(${(f)"$($program $command --help 2>/dev/null | awk -v name=$words[CURRENT-1] \
			'$1 == name && $2 ~ /\|/ { n = split($2, w, "|"); for (i = 1; i <= n; i++) print w[i] }')"})
		if (($#found)); then
			compadd -- $found
		elif [[ $PREFIX == -* ]]; then
			found=(${(f)"$($program $command --help 2>/dev/null | awk '/^  --/ { print $1 }')"})
			compadd -- $found
		else
			found=(${=$($program run --help 2>/dev/null | sed -n '/^ *SCENE$/,/;/{/SCENE$/d;s/;.*//;p}' | tr , ' ')})
			[[ $command != (run|render) ]] || compadd -- $found
			_files
		fi
	fi
}
_tactus "$@"
