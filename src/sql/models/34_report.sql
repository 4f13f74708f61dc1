
-- ---- report ---------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost_report(model text) RETURNS text
    AS 'MODULE_PATHNAME', 'dpboost_report' LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION dpboost_report(text) IS
    'the model as one page of HTML: how good and how private it is, what matters, how each column moves the prediction; with what the caller may see of ledger, budgets and evaluations';
