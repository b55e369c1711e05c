#!/bin/sh
# The same deals by expert, by pimc and double dummy: tables/bias-*.csv. From the project's folder:
#   sh analysis/strength/bias.sh
set -e
milsim=${MILSIM:-.venv/bin/milsim}
work=out/strength/bias
tables=analysis/strength/tables
mkdir -p $work $tables
for rules in mil gamerules; do
    for policy in expert pimc; do
        for dd in off exchange; do
            [ $policy-$dd = pimc-exchange ] && continue
            run=$work/$rules-$policy-$dd
            deals=2000
            [ $dd = exchange ] && deals=20000
            [ -e $run/manifest.json ] && continue
            $milsim simulate --mode declarer --rules $rules --policy $policy --dd $dd --seed 2027 \
                --deals $deals --threads 1 --quiet --out $run
        done
    done
    dd=$work/$rules-expert-exchange
    expert=$work/$rules-expert-off
    pimc=$work/$rules-pimc-off
    $milsim report bias $dd --format csv --out $tables/bias-$rules-expert.csv
    $milsim report bias $dd $pimc --format csv --out $tables/bias-$rules.csv
    $milsim report bias $expert $pimc --format csv --out $tables/bias-$rules-pimc.csv
done
