#!/bin/sh
# Makes the PDFs of the handout and the page to take away. Needs pandoc, weasyprint and git:
#     apt-get install pandoc weasyprint
#     sh .github/workshop/print.sh
set -eu
cd "$(dirname "$0")"
for text in handout takeaway; do
    pandoc -f gfm -t html5 -s --css print.css -M pagetitle="Virtual threads" \
        -M keywords="$(git hash-object --no-filters $text.md)" $text.md |
        weasyprint -q - $text.pdf
done
