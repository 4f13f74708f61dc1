#!/bin/bash
# What Adult gives without privacy: scikit-learn's gradient boosting with its defaults, 5-fold cross-validation, AUC. It is the
# line that the curves of doc/accuracy.svg approach. Needs python3-sklearn and python3-pandas.
python=/usr/bin/python3 # Debian's, which has Debian's packages
if ! $python -c 'import sklearn, pandas' 2>/dev/null; then
    echo "skipped: apt-get install python3-sklearn python3-pandas" >&2
    exit 0
fi
OMP_NUM_THREADS=1 $python - "${DPBOOST_DATA:-../shared/data}/adult.csv" <<'END'
import sys
import pandas
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

rows = pandas.read_csv(sys.argv[1]).drop(columns="is_test")
rich = rows.pop("income") == ">50K"
text = [column for column in rows if rows[column].dtype == object]
for column in text:
    rows[column] = rows[column].astype("category").cat.codes.replace(-1, float("nan"))
model = HistGradientBoostingClassifier(categorical_features=[column in text for column in rows])
folds = StratifiedKFold(5, shuffle=True, random_state=1)
print("%-21s %10s" % ("data", "nonprivate"))
print("%-21s %10.4f" % ("adult", cross_val_score(model, rows.to_numpy(), rich, scoring="roc_auc", cv=folds).mean()))
END
