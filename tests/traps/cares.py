"""The cares that docs/traps.md tells of, each as an edit that takes it away and a test that notices."""

from __future__ import annotations

from dataclasses import dataclass

_TIME = "tests/traps/test_time_and_ties.py::test_"
_EVALUATION = "tests/traps/test_evaluation.py::test_"
_PSEUDO = "tests/detectors/test_pseudo.py::test_"
_RANKING = "tests/metrics/test_ranking.py::test_"


@dataclass(frozen=True)
class Care:
    """Without the care (`old` replaced by `new` in a file of the package), the test must fail."""

    trap: int
    title: str
    file: str  # below src/sdgad
    old: str
    new: str
    test: str

    @property
    def name(self) -> str:
        return f"{self.trap}: {self.title}"


CARES = [
    # ------------------------------------------------------------------ time and ties
    Care(
        1, "histories up to and including now", "history/grouping.py",
        "return self.tie[self.position] if strict else self.position",
        "return self.position + 1",
        f"{_TIME}an_event_sees_only_what_is_strictly_earlier",
    ),
    Care(
        1, "a right binary search", "history/positions.py",
        'side = "left" if self.ties == "strict" else "right"',
        'side = "right"',
        f"{_TIME}an_event_sees_only_what_is_strictly_earlier",
    ),
    Care(
        2, "siblings seen in order of arrival", "history/grouping.py",
        "return self.tie[self.position] if strict else self.position",
        "return self.position",
        f"{_TIME}rows_of_one_time_are_nothing_to_each_other",
    ),
    Care(
        2, "siblings seen through the counts of their pair", "history/positions.py",
        'pairs.first_unseen(strict=self.ties == "strict")',
        "pairs.first_unseen(strict=False)",
        f"{_TIME}rows_of_one_time_are_nothing_to_each_other",
    ),
    Care(
        2, "siblings seen through the rate of the stream", "history/positions.py",
        'before = np.flatnonzero(fresh)[instant] if self.ties == "strict" else np.arange(self._count)',
        "before = np.arange(self._count)",
        f"{_TIME}rows_of_one_time_are_nothing_to_each_other",
    ),
    Care(
        2, "live, a batch is past for the next one of its time", "history/buffer.py",
        "waiting = (look.rows.t[kept] == self.newest) & self.strict",
        "waiting = np.zeros(len(kept), bool)",
        f"{_TIME}live_rows_of_one_time_stay_apart_wherever_a_batch_ends",
    ),
    Care(
        2, "a history is past for new events of its last time", "history/log.py",
        "np.concatenate([self.t, new.t])",
        "np.concatenate([self.t - 1e-3, new.t])",
        f"{_TIME}rows_of_one_time_stay_apart_where_the_history_ends_between_them",
    ),
    Care(
        3, "the sampler admits the event itself", "history/grouping.py",
        "return self.tie[self.position] if strict else self.position",
        "return self.position + 1",
        f"{_TIME}including_the_event_adds_exactly_one_token_to_each_endpoint",
    ),
    Care(
        3, "the event is visible in both branches", "encoders/tokens.py",
        "return torch.cat([window.mask, include_event[:, None, None].expand(-1, 2, 1)], 2)",
        "return torch.cat([window.mask, torch.ones_like(window.mask[..., :1])], 2)",
        f"{_TIME}including_the_event_adds_exactly_one_token_to_each_endpoint",
    ),
    Care(
        4, "injected rows come first", "events/injection/places.py",
        'place = int(np.searchsorted(chance, rng.random() * chance[-1], side="right"))',
        "place = 0",
        f"{_TIME}injected_rows_stand_anywhere_among_the_rows_of_their_time",
    ),
    Care(
        4, "injected rows come last", "events/injection/places.py",
        'place = int(np.searchsorted(chance, rng.random() * chance[-1], side="right"))',
        "place = len(src)",
        f"{_TIME}injected_rows_stand_anywhere_among_the_rows_of_their_time",
    ),
    Care(
        5, "published times off the grid", "events/injection/grid.py",
        "return np.asarray(whole / self.scale)",
        "return t",
        f"{_TIME}injected_times_lie_on_the_clock_of_the_stream",
    ),
    Care(
        5, "clean times off the grid", "events/injection/grid.py",
        "return (number * step + self.origin - self.zero) / self.scale",
        "return t",
        f"{_TIME}injected_times_lie_on_the_clock_of_the_stream",
    ),
    Care(
        6, "a pair is moved to any time", "events/injection/observed.py",
        "return float(self.since[place]) if self.pair[place] == pair else -np.inf",
        "return -np.inf",
        f"{_TIME}a_moved_pair_has_been_seen_before",
    ),
    Care(
        7, "float32 times in a stream", "events/columns.py",
        "    times = times.astype(np.float64)\n    if not np.isfinite",
        "    times = times.astype(np.float32)\n    if not np.isfinite",
        f"{_TIME}a_second_stays_a_second_years_into_a_stream",
    ),
    Care(
        7, "float32 times in the index", "history/positions.py",
        "self._time = self._tensor(np.append(seconds, 0.0), np.float64)",
        "self._time = self._tensor(np.append(seconds, 0.0), np.float32)",
        f"{_TIME}a_second_stays_a_second_years_into_a_stream",
    ),
    Care(
        7, "float32 times in the live buffer", "history/buffer.py",
        "return np.asarray((t - origin) * self.clock.seconds, np.float64)",
        "return np.asarray((t - origin) * self.clock.seconds, np.float32)",
        f"{_TIME}a_second_stays_a_second_years_into_a_stream",
    ),
    Care(
        8, "float32 products under the cosine", "encoders/time_encoding.py",
        "angle = gap.double()[..., None] * self.frequency",
        "angle = gap[..., None] * self.frequency.float()",
        "tests/encoders/test_time_encoding.py::test_large_gaps_keep_their_phase",
    ),
    Care(
        9, "the index counts from year 0 of the clock", "history/positions.py",
        "seconds = np.asarray((t - self._origin) * self.clock.seconds, np.float64)",
        "seconds = np.asarray(t * self.clock.seconds, np.float64)",
        f"{_TIME}the_date_on_which_a_stream_begins_changes_no_bit",
    ),
    Care(
        9, "the live buffer counts from year 0 of the clock", "history/buffer.py",
        "return np.asarray((t - origin) * self.clock.seconds, np.float64)",
        "return np.asarray(t * self.clock.seconds, np.float64)",
        f"{_TIME}the_date_on_which_a_stream_begins_changes_no_bit",
    ),
    Care(
        10, "parts by quantiles of time", "events/stream.py",
        "first = int(np.floor(train * len(self) + 1e-9))",
        "first = int(np.searchsorted(self.t, np.quantile(self.t, train), side='right'))",
        f"{_TIME}a_split_counts_rows_also_where_many_share_a_time",
    ),
    # ------------------------------------------------------------------ evaluation
    Care(
        30, "scores relative to the highest of the test part", "detectors/base.py",
        "        scores[arrivals.kept] = sound(found)\n",
        "        scores[arrivals.kept] = sound(found) / (np.nanmax(found) + 0.01)\n",
        f"{_EVALUATION}a_score_and_a_decision_need_no_later_event",
    ),
    Care(
        30, "likelihoods relative to the highest of the test part", "calibration/score.py",
        "u = (self.boundary - _log_likelihood(ell)) / self.width",
        "u = (np.max(ell) - 1 - _log_likelihood(ell)) / self.width",
        f"{_EVALUATION}a_score_and_a_decision_need_no_later_event",
    ),
    Care(
        30, "a threshold from the test part", "detectors/deciding.py",
        "return (self.decision_function(events) >= self.threshold_).astype(np.int64)",
        "scores = self.decision_function(events)\n"
        "        return (scores >= np.quantile(scores, 0.9)).astype(np.int64)",
        f"{_EVALUATION}a_score_and_a_decision_need_no_later_event",
    ),
    Care(
        31, "a pseudo-anomaly with the history of the true destination", "detectors/pseudo.py",
        "query = self.index.hypothetical(real.node[:, 0], other.node[:, 1], real.time, real.before)",
        "node = torch.stack([real.node[:, 0], other.node[:, 1]], 1)\n"
        "        query = Query(node, *(getattr(real, name) for name in list(vars(real))[1:]))",
        f"{_PSEUDO}the_visible_past_is_that_of_the_anchors_time",
    ),
    Care(
        31, "a pseudo-anomaly with an empty token", "detectors/learned/examples.py",
        "self.pseudo.index.asked(made.query, made.msg)",
        "self.pseudo.index.asked(made.query)",
        f"{_EVALUATION}in_training_a_pseudo_anomaly_has_features_and_a_past_like_any_event",
    ),
    Care(
        32, "a pseudo-anomaly at the time of its donor", "detectors/pseudo.py",
        "query = self.index.hypothetical(other.node[:, 0], other.node[:, 1], real.time, real.before)",
        "query = self.index.hypothetical(other.node[:, 0], other.node[:, 1], other.time, other.before)",
        f"{_PSEUDO}another_time_is_the_whole_event_of_another_pair_at_this_time",
    ),
    Care(
        32, "a pseudo-anomaly that sees what its donor saw", "detectors/pseudo.py",
        "query = self.index.hypothetical(other.node[:, 0], other.node[:, 1], real.time, real.before)",
        "query = self.index.hypothetical(other.node[:, 0], other.node[:, 1], real.time, other.before)",
        f"{_PSEUDO}the_visible_past_is_that_of_the_anchors_time",
    ),
    Care(
        33, "a pseudo-anomaly with anybody as its destination", "detectors/pseudo.py",
        "query = self.index.hypothetical(real.node[:, 0], other.node[:, 1], real.time, real.before)",
        "query = self.index.hypothetical(real.node[:, 0], other.node[:, 0], real.time, real.before)",
        f"{_EVALUATION}a_pseudo_anomaly_buys_at_a_shop",
    ),
    Care(
        33, "injected pairs that were observed", "events/injection/recipe.py",
        "return self.material.observed.has(src, dst)",
        "return np.zeros(len(src), bool)",
        f"{_EVALUATION}an_injected_stranger_is_a_stranger_and_can_be_a_destination",
    ),
    Care(
        33, "injected pairs that were observed in an earlier part", "events/injection/clean.py",
        "return events.predecessors",
        "return None",
        f"{_EVALUATION}an_injected_stranger_is_a_stranger_and_can_be_a_destination",
    ),
    Care(
        33, "injected destinations of any id", "events/injection/recipe.py",
        "low = sources if self.material.bipartite else 0",
        "low = 0",
        f"{_EVALUATION}an_injected_stranger_is_a_stranger_and_can_be_a_destination",
    ),
    Care(
        33, "injected self-loops", "events/injection/clean.py",
        "refused: Array = super().unfit(src, dst) | (src == dst)",
        "refused: Array = super().unfit(src, dst)",
        f"{_EVALUATION}an_injected_stranger_is_a_stranger_and_can_be_a_destination",
    ),
    Care(
        34, "likelihood taken for anomaly", "detectors/sdgad/detector.py",
        "-self._summed(self._panel.nats(self._raw(windows)))",
        "self._summed(self._panel.nats(self._raw(windows)))",
        f"{_EVALUATION}anomalies_score_higher_than_normals",
    ),
    Care(
        34, "1 taken for normal", "detectors/row_maker.py",
        "return LabelledRows(self.table.rows(self.task.index, rows), (label == 1).cpu().numpy())",
        "return LabelledRows(self.table.rows(self.task.index, rows), (label != 1).cpu().numpy())",
        f"{_EVALUATION}anomalies_score_higher_than_normals",
    ),
    Care(
        34, "depth taken for anomaly", "detectors/trees.py",
        "np.asarray(2.0 ** -(depth / scale))",
        "np.asarray(1 - 2.0 ** -(depth / scale))",
        f"{_EVALUATION}anomalies_score_higher_than_normals",
    ),
    Care(
        35, "labelled anomalies count ten times", "detectors/learned/examples.py",
        "weight = torch.ones(len(rows), device=rows.device)",
        "weight = 1 + 9 * anomalous.float()",
        f"{_EVALUATION}with_labels_no_class_has_more_say_than_its_events",
    ),
    Care(
        35, "balanced classes", "detectors/growing.py",
        "warm_start=True,",
        'warm_start=True, class_weight="balanced",',
        f"{_EVALUATION}with_labels_no_class_has_more_say_than_its_events",
    ),
    Care(
        36, "every row a step, tied or not", "metrics/ranking.py",
        "np.append(score[1:] != score[:-1], True)",
        "np.ones(len(score), bool)",
        f"{_RANKING}auroc_and_average_precision_are_those_of_scikit_learn",
    ),
    Care(
        36, "ties won", "metrics/ranking.py",
        "doubled_area = int(np.sum(new_false * (before + self.true_positives)))",
        "doubled_area = int(np.sum(new_false * 2 * self.true_positives))",
        f"{_RANKING}auroc_is_the_share_of_pairs_won_with_ties_one_half",
    ),
    Care(
        36, "interpolated precision", "metrics/ranking.py",
        "return float(np.sum(gained * self._precision()) / self.anomalies)",
        "best = np.maximum.accumulate(self._precision()[::-1])[::-1]\n"
        "        return float(np.sum(gained * best) / self.anomalies)",
        f"{_RANKING}auroc_and_average_precision_are_those_of_scikit_learn",
    ),
    Care(
        37, "counts of all events of a node, later ones included", "history/index.py",
        "count=(end - start).double(),",
        "count=(at(self._start, query.node + 1) - start).double(),",
        f"{_EVALUATION}a_last_event_scores_as_if_its_source_went_on",
    ),
    Care(
        38, "the source alone", "detectors/learned/event_vector.py",
        "parts = [src - src_before, dst - dst_before]",
        "parts = [src - src_before, src - src_before]",
        f"{_EVALUATION}the_history_of_either_endpoint_moves_the_score",
    ),
    Care(
        38, "another split of a stream", "events/stream.py",
        "def split(self, train: float = 0.4, val: float = 0.2)",
        "def split(self, train: float = 0.7, val: float = 0.15)",
        f"{_EVALUATION}parts_are_40_20_40_by_default_everywhere",
    ),
    Care(
        38, "another split of a protocol", "experiments/protocol.py",
        "train: float = 0.4",
        "train: float = 0.7",
        f"{_EVALUATION}parts_are_40_20_40_by_default_everywhere",
    ),
    Care(
        39, "probabilities where log-odds are due", "detectors/sdgad/known.py",
        "cost = F.binary_cross_entropy_with_logits(self(h),",
        "cost = F.binary_cross_entropy_with_logits(self(h).sigmoid(),",
        f"{_EVALUATION}a_confident_right_answer_costs_nothing_and_a_wrong_one_much",
    ),
    Care(
        39, "probabilities where log-odds are due, in a fit", "detectors/sdgad/known.py",
        "cost = F.binary_cross_entropy_with_logits(self(h),",
        "cost = F.binary_cross_entropy_with_logits(self(h).sigmoid(),",
        f"{_EVALUATION}every_loss_on_log_odds_is_given_log_odds",
    ),
]  # fmt: skip
