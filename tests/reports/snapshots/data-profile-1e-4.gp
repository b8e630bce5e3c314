# gnuplot data-profile-1e-4.gp writes data-profile-1e-4.svg and data-profile-1e-4.pdf
set encoding utf8
$curve0 << EOD
0.7000000000000001 0.16666666666666669
0.8 0.4444444444444445
1 0.6111111111111112
2 0.7222222222222223
3 0.8888888888888891
3.600000000000001 1
9.840000000000002 1
EOD
$curve1 << EOD
0.4 0.2777777777777778
1.5 0.4444444444444445
2.8000000000000003 0.6111111111111112
4 0.7777777777777779
8 0.8888888888888891
9.840000000000002 0.8888888888888891
EOD
$curve2 << EOD
2.6 0.11111111111111112
5 0.22222222222222224
7.000000000000001 0.38888888888888895
8.200000000000001 0.5000000000000001
9.840000000000002 0.5000000000000001
EOD
$curve3 << EOD
5 0.11111111111111112
9.840000000000002 0.11111111111111112
EOD
set xlabel 'set-up + solve time [ms]' noenhanced
set ylabel 'share of problems' noenhanced
set logscale x
set format x '10^{%T}'
set yrange [0:1.02]
set grid lc rgb '#DDDDDD' lt 1
set border 3
set tics nomirror
set key outside right noenhanced
set terminal svg size 640,400 font 'Helvetica,13' background rgb 'white'
set output 'data-profile-1e-4.svg'
plot $curve0 with steps lw 2 lc rgb '#0072B2' dt 1 title 'NSGS *', \
     $curve1 with steps lw 2 lc rgb '#D55E00' dt '-' title 'PGS-NCP', \
     $curve2 with steps lw 2 lc rgb '#009E73' dt '.' title 'ADMM-NCP-SA increment=0.01', \
     $curve3 with steps lw 2 lc rgb '#CC79A7' dt '-.' title 'LIAR <b>'
set terminal pdfcairo size 16cm,10cm font 'Helvetica,11'
set output 'data-profile-1e-4.pdf'
plot $curve0 with steps lw 2 lc rgb '#0072B2' dt 1 title 'NSGS *', \
     $curve1 with steps lw 2 lc rgb '#D55E00' dt '-' title 'PGS-NCP', \
     $curve2 with steps lw 2 lc rgb '#009E73' dt '.' title 'ADMM-NCP-SA increment=0.01', \
     $curve3 with steps lw 2 lc rgb '#CC79A7' dt '-.' title 'LIAR <b>'
