#!/bin/bash
# What the public tables give without privacy: XGBoost, and XGBoost whose trees split by one column each, an additive model like the
# largest part of `auto`. 5-fold cross-validation, 300 rounds of hist at a rate of 0.05 (1,500 where additive), trees of depth 6 (3), texts as
# columns of 0 and 1. Not tuned. AUC, or root of the mean square error. Needs python3-xgboost and python3-pandas.
python=/usr/bin/python3 # Debian's, which has Debian's packages
if ! $python -c 'import xgboost, pandas' 2>/dev/null; then
    echo "skipped: apt-get install python3-xgboost python3-pandas" >&2
    exit 0
fi
OMP_NUM_THREADS=1 $python - "${DPBOOST_DATA:-../shared/data}" <<'END'
import os
import sys
import numpy
import pandas
import xgboost

TABLES = {
    "magic": ("class", "g"),
    "credit2": ("default_payment", 1),
    "california_housing": ("median_house_value", None),
    "adult": ("income", ">50K"),
    "spambase": ("spam", 1),
    "abalone": ("rings", None),
}
ROUNDS = 300
ADDITIVE_ROUNDS = 1500


def auc(truth, score):
    ranks = pandas.Series(score).rank().to_numpy()
    positives = truth.sum()
    return (ranks[truth == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(truth) - positives))


def load(name, target, positive):
    rows = pandas.read_csv(os.path.join(sys.argv[1], name + ".csv")).drop(columns="is_test", errors="ignore")
    values = rows.pop(target)
    labels = values.to_numpy(float) if positive is None else (values == positive).to_numpy(float)
    parts, groups = [], []
    for column in rows:
        text = rows[column].dtype == object
        part = pandas.get_dummies(rows[column], dummy_na=True) if text else rows[[column]]
        first = sum(p.shape[1] for p in parts)
        groups.append(list(range(first, first + part.shape[1])))
        parts.append(part.to_numpy(float))
    return numpy.hstack(parts), labels, groups


def measure(cells, labels, groups, regression):
    options = {"tree_method": "hist", "eta": 0.05, "max_depth": 6, "nthread": 1, "verbosity": 0,
               "objective": "reg:squarederror" if regression else "binary:logistic"}
    if groups:
        options.update(max_depth=3, interaction_constraints=str(groups))
    order = numpy.random.default_rng(1).permutation(len(labels))
    found = []
    for fold in range(5):
        test, train = order[fold::5], numpy.setdiff1d(order, order[fold::5])
        model = xgboost.train(options, xgboost.DMatrix(cells[train], labels[train]), ADDITIVE_ROUNDS if groups else ROUNDS)
        told = model.predict(xgboost.DMatrix(cells[test]))
        found.append(numpy.mean((told - labels[test]) ** 2) ** 0.5 if regression else auc(labels[test], told))
    return numpy.mean(found)


print("%-21s %10s %10s" % ("data", "additive", "xgboost"))
for name, (target, positive) in TABLES.items():
    if not os.path.exists(os.path.join(sys.argv[1], name + ".csv")):
        print("%-21s skipped: no such file in $DPBOOST_DATA" % name)
        continue
    cells, labels, groups = load(name, target, positive)
    told = [measure(cells, labels, way, positive is None) for way in (groups, None)]
    print("%-21s %10.4f %10.4f" % (name, *told), flush=True)
END
