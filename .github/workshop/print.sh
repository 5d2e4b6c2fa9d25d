#!/bin/sh
# Makes the PDFs of the handout, the page to take away, the trainer's sheet, the part for the
# fast and the pictures.
#     apt-get install pandoc weasyprint
#     sh .github/workshop/print.sh [ADDRESS]
# The project's address goes where the pages say README; without it, there's a blank to fill in.
set -eu
cd "$(dirname "$0")"
address=${1:-____________________}

print() { # prints the Markdown that it reads, with room to write on each ____
    sed "s|README, ___*|README, $address|" |
        pandoc -f gfm -t html5 -s --wrap=none --css print.css -M pagetitle="Virtual threads" |
        sed -e 's:_____*:<span class="blank">&</span>:g' \
        -e '/class="write/s:</div>:<i></i>&:' \
        -e '/class="write two"/s:</div>:<i></i>&:' \
        -e '/class="write"/s:</div>:<i></i><i></i>&:' \
        -e 's|<a href="[^"#:][^":]*"|<a|g' | # on paper, another page is nowhere
        weasyprint -q - "$1.pdf"
}

for text in handout takeaway trainer fast; do
    print $text < $text.md
done

for picture in mounted.svg connections.svg; do
    printf '<img class="page" src="%s">\n\n' "$picture"
done | print pictures
