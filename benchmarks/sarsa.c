/* SARSA on a game graph, in C: the peer that Miai's compiled training is timed against.
 *
 * The same arrays, the same random streams and the same order of operations as src/miai/tabular/kernels.py
 * (`train_one_step`), so both learn the same table, bit for bit; but only SARSA on (state, action) entries.
 *
 *   cc -O3 -shared -fPIC -o sarsa.so sarsa.c
 */
#include <stdint.h>

/* A random stream: xoshiro256++ (Blackman and Vigna, 2019). */
static inline uint64_t next_uint64(uint64_t *s) {
  const uint64_t sum = s[0] + s[3], result = ((sum << 23) | (sum >> 41)) + s[0], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = (s[3] << 45) | (s[3] >> 19);
  return result;
}

static inline double uniform(uint64_t *s) { return (double)(next_uint64(s) >> 11) * (1.0 / 9007199254740992.0); }

static inline int64_t greedy_edge(int64_t first, int64_t last, const double *values) {
  int64_t best = first;
  double best_value = values[first];
  for (int64_t edge = first + 1; edge < last; edge++)
    if (values[edge] > best_value) {
      best = edge;
      best_value = values[edge];
    }
  return best;
}

static inline int64_t sample_edge(int64_t first, int64_t last, const double *accept, const uint32_t *alias,
                                  uint64_t *stream) {
  const uint64_t scaled = (next_uint64(stream) >> 11) * (uint64_t)(last - first);
  const int64_t edge = first + (int64_t)(scaled >> 53);
  const double fraction = (double)(int64_t)(scaled & ((1ull << 53) - 1)) * (1.0 / 9007199254740992.0);
  return fraction >= accept[edge] ? alias[edge] : edge;
}

static inline void update(double *values, int64_t *visits, int64_t entry, double target, double alpha) {
  visits[entry] += 1;
  values[entry] += alpha * (target - values[entry]);
}

/* Play `games` games and learn at every turn. `values`, `visits`, both streams and `results` (wins, draws, losses of the
 * learner, who is player 0 or 1) are modified in place. */
void train(const uint32_t *edge_start, const uint32_t *edge_child, const int8_t *outcomes, const double *accept,
           const uint32_t *alias, int64_t learner, double gamma, int64_t games, const double *epsilons,
           const double *alphas, double *values, int64_t *visits, uint64_t *learner_stream, uint64_t *opponent_stream,
           int64_t *results) {
  for (int64_t game = 0; game < games; game++) {
    int64_t state = 0, player = 0, waiting = -1;
    int64_t first = edge_start[0], last = edge_start[1];
    while (first < last) {
      int64_t edge;
      if (player == learner) {
        if (uniform(learner_stream) < epsilons[game])
          edge = first + (int64_t)(uniform(learner_stream) * (double)(last - first));
        else
          edge = greedy_edge(first, last, values);
        if (waiting >= 0) update(values, visits, waiting, gamma * values[edge], alphas[game]);
        waiting = edge;
      } else {
        edge = sample_edge(first, last, accept, alias, opponent_stream);
      }
      state = edge_child[edge];
      first = edge_start[state];
      last = edge_start[state + 1];
      player = 1 - player;
    }
    const int outcome = outcomes[state];
    if (waiting >= 0) update(values, visits, waiting, learner == 0 ? outcome : -outcome, alphas[game]);
    results[learner == 0 ? 1 - outcome : 1 + outcome] += 1;
  }
}
