/* Uniform Go playouts in C: the peer that Miai's compiled playouts are timed against.
 *
 * The same algorithm, move for move, as src/miai/games/go/board.py (`play`) and src/miai/search/playouts.py
 * (`uniform_playouts`), with the same random stream, so that both give the same games; see there for the reasons.
 *
 *   cc -O3 -march=native -o playouts playouts.c && ./playouts SIZE COUNT s0 s1 s2 s3
 *
 * prints: seconds of the processor, moves played, sum of Black's area minus White's.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STRIDE = 21, POINTS = 441, EMPTY = 0, BLACK = 1, WHITE = 2, EDGE = 3, BOTH = 3, PASS_POINT = 0, NO_POINT = 0 };
enum { MOVES_PER_POINT = 3 };
enum { N_SLOT = 0, W_SLOT = 2, E_SLOT = 4, S_SLOT = 6, NW_SLOT = 8, NE_SLOT = 10, SW_SLOT = 12, SE_SLOT = 14 };

typedef struct {
  uint64_t liberties[POINTS];
  uint16_t colour[POINTS], chain[POINTS], next[POINTS], length[POINTS], shape[POINTS], empties[POINTS], where[POINTS];
  uint16_t num_empty, ko, size;
} Board;

static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t next_uint64(uint64_t *s) {
  const uint64_t result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return result;
}

static inline uint64_t unit(uint64_t v) { return v * (v + (1ull << 30)) + (1ull << 50); }

static inline int in_atari(uint64_t packed) {
  const uint64_t total = (packed >> 30) & ((1u << 20) - 1);
  return (packed >> 50) * (packed & ((1u << 30) - 1)) == total * total;
}

static inline uint64_t empty_neighbours(uint64_t shape) { return ~(shape | (shape >> 1)) & 0x55; }

static inline int has_empty_neighbour(uint64_t shape) { return empty_neighbours(shape) != 0; }

static inline int is_surrounded_by(uint64_t shape, uint64_t colour) { return ((shape >> (colour - 1)) & 0x55) == 0x55; }

static inline int is_eye(uint64_t shape, uint64_t colour) {
  if (!is_surrounded_by(shape, colour)) return 0;
  const uint64_t diagonals = shape >> 8, edge = diagonals & (diagonals >> 1) & 0x55;
  const uint64_t enemy = ((diagonals >> (2 - colour)) & 0x55) ^ edge;
  return edge ? enemy == 0 : (enemy & (enemy - 1)) == 0;
}

static inline int saves(const Board *b, uint64_t n, uint64_t colour) {
  const uint64_t found = b->colour[n];
  return (found != EDGE) & (in_atari(b->liberties[b->chain[n]]) != (found == colour));
}

static inline int is_sensible(const Board *b, uint64_t v, uint64_t colour) {
  const uint64_t shape = b->shape[v];
  if (has_empty_neighbour(shape)) return 1;
  return !is_eye(shape, colour) && (saves(b, v - STRIDE, colour) | saves(b, v - 1, colour) |
                                    saves(b, v + 1, colour) | saves(b, v + STRIDE, colour));
}

static inline void add_to_shapes(Board *b, uint64_t v, uint64_t colour) {
  b->shape[v - STRIDE] += colour << S_SLOT;
  b->shape[v - 1] += colour << E_SLOT;
  b->shape[v + 1] += colour << W_SLOT;
  b->shape[v + STRIDE] += colour << N_SLOT;
  b->shape[v - STRIDE - 1] += colour << SE_SLOT;
  b->shape[v - STRIDE + 1] += colour << SW_SLOT;
  b->shape[v + STRIDE - 1] += colour << NE_SLOT;
  b->shape[v + STRIDE + 1] += colour << NW_SLOT;
}

static int take_off(Board *b, uint64_t chain) {
  const uint64_t colour = b->colour[chain];
  uint64_t empties = b->num_empty, stone = chain;
  int count = 0;
  do {
    b->colour[stone] = EMPTY;
    b->empties[empties] = stone;
    b->where[stone] = empties++;
    add_to_shapes(b, stone, -colour);
    const uint64_t back = unit(stone);
    b->liberties[b->chain[stone - STRIDE]] += back;
    b->liberties[b->chain[stone - 1]] += back;
    b->liberties[b->chain[stone + 1]] += back;
    b->liberties[b->chain[stone + STRIDE]] += back;
    count++;
    const uint64_t following = b->next[stone];
    b->chain[stone] = stone;
    b->next[stone] = stone;
    stone = following;
  } while (stone != chain);
  b->num_empty = empties;
  return count;
}

static inline void join(Board *b, uint64_t keep, uint64_t lose) {
  b->liberties[keep] += b->liberties[lose];
  b->length[keep] += b->length[lose];
  uint64_t stone = lose;
  do {
    b->chain[stone] = keep;
    stone = b->next[stone];
  } while (stone != lose);
  const uint16_t after = b->next[keep];
  b->next[keep] = b->next[lose];
  b->next[lose] = after;
}

static inline int meet(Board *b, uint64_t n, uint64_t v, uint64_t other) {
  const uint64_t found = b->colour[n];
  if (found == other) {
    if (b->liberties[b->chain[n]] == 0) return take_off(b, b->chain[n]);
  } else if (found == BOTH - other) {
    const uint64_t chain = b->chain[n], mine = b->chain[v];
    if (chain != mine) {
      if (b->length[chain] >= b->length[mine])
        join(b, chain, mine);
      else
        join(b, mine, chain);
    }
  }
  return 0;
}

static inline void play(Board *b, uint64_t v, uint64_t colour) {
  b->ko = NO_POINT;
  if (v == PASS_POINT) return;
  const uint64_t other = BOTH - colour, shape = b->shape[v], gone = unit(v);
  const uint16_t position = b->where[v], last = --b->num_empty, moved = b->empties[last];
  b->empties[position] = moved;
  b->where[moved] = position;
  b->colour[v] = colour;
  b->length[v] = 1;
  add_to_shapes(b, v, colour);
  b->liberties[b->chain[v - STRIDE]] -= gone;
  b->liberties[b->chain[v - 1]] -= gone;
  b->liberties[b->chain[v + 1]] -= gone;
  b->liberties[b->chain[v + STRIDE]] -= gone;
  const uint64_t empty = empty_neighbours(shape);
  uint64_t own = unit(v - STRIDE) * ((empty >> N_SLOT) & 1);
  own += unit(v - 1) * ((empty >> W_SLOT) & 1);
  own += unit(v + 1) * ((empty >> E_SLOT) & 1);
  own += unit(v + STRIDE) * ((empty >> S_SLOT) & 1);
  b->liberties[v] = own;
  int captured = meet(b, v - STRIDE, v, other);
  captured += meet(b, v - 1, v, other);
  captured += meet(b, v + 1, v, other);
  captured += meet(b, v + STRIDE, v, other);
  if (own == 0 && captured == 1 && is_surrounded_by(shape, other)) b->ko = b->empties[b->num_empty - 1];
}

static inline uint64_t uniform_move(Board *b, uint64_t colour, uint64_t *rng) {
  uint64_t left = b->num_empty;
  while (left) {
    const uint64_t drawn = ((next_uint64(rng) >> 32) * left) >> 32, v = b->empties[drawn];
    if (v != b->ko && is_sensible(b, v, colour)) return v;
    const uint64_t other = b->empties[--left];
    b->empties[drawn] = other;
    b->where[other] = drawn;
    b->empties[left] = v;
    b->where[v] = left;
  }
  return PASS_POINT;
}

static int area_difference(const Board *b) {
  int difference = 0;
  for (int row = 1; row <= b->size; row++)
    for (int column = 1; column <= b->size; column++) {
      const int v = row * STRIDE + column;
      int colour = b->colour[v];
      if (colour == EMPTY) colour = b->colour[v - STRIDE] & b->colour[v - 1] & b->colour[v + 1] & b->colour[v + STRIDE];
      difference += (colour == BLACK) - (colour == WHITE);
    }
  return difference;
}

static void copy_board(const Board *from, Board *to) {
  const size_t used = (from->size + 2) * STRIDE;
  memcpy(to->liberties, from->liberties, used * sizeof(uint64_t));
  memcpy(to->colour, from->colour, used * sizeof(uint16_t));
  memcpy(to->chain, from->chain, used * sizeof(uint16_t));
  memcpy(to->next, from->next, used * sizeof(uint16_t));
  memcpy(to->length, from->length, used * sizeof(uint16_t));
  memcpy(to->shape, from->shape, used * sizeof(uint16_t));
  memcpy(to->empties, from->empties, used * sizeof(uint16_t));
  memcpy(to->where, from->where, used * sizeof(uint16_t));
  to->num_empty = from->num_empty;
  to->ko = from->ko;
  to->size = from->size;
}

static void clear(Board *b, int size) {
  memset(b, 0, sizeof *b);
  for (int v = 0; v < POINTS; v++) {
    b->colour[v] = EDGE;
    b->chain[v] = b->next[v] = v;
  }
  b->size = size;
  for (int row = 1; row <= size; row++)
    for (int column = 1; column <= size; column++) {
      const int v = row * STRIDE + column;
      b->colour[v] = EMPTY;
      b->empties[b->num_empty] = v;
      b->where[v] = b->num_empty++;
    }
  for (int i = 0; i < b->num_empty; i++) {
    const int v = b->empties[i];
    b->shape[v] = b->colour[v - STRIDE] << N_SLOT | b->colour[v - 1] << W_SLOT | b->colour[v + 1] << E_SLOT |
                  b->colour[v + STRIDE] << S_SLOT | b->colour[v - STRIDE - 1] << NW_SLOT |
                  b->colour[v - STRIDE + 1] << NE_SLOT | b->colour[v + STRIDE - 1] << SW_SLOT |
                  b->colour[v + STRIDE + 1] << SE_SLOT;
  }
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: %s SIZE COUNT s0 s1 s2 s3\n", argv[0]);
    return 2;
  }
  const int size = atoi(argv[1]);
  const long count = atol(argv[2]);
  uint64_t rng[4];
  for (int i = 0; i < 4; i++) rng[i] = strtoull(argv[3 + i], NULL, 10);
  static Board start, board;
  clear(&start, size);
  struct timespec before, after;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  long moves = 0, total = 0;
  for (long i = 0; i < count; i++) {
    copy_board(&start, &board);
    uint64_t colour = BLACK;
    const int limit = MOVES_PER_POINT * size * size;
    int passes = 0, played = 0;
    while (passes < 2 && played < limit) {
      const uint64_t v = uniform_move(&board, colour, rng);
      play(&board, v, colour);
      passes = v == PASS_POINT ? passes + 1 : 0;
      colour = BOTH - colour;
      played++;
    }
    moves += played;
    total += area_difference(&board);
  }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  printf("%.9f %ld %ld\n", (after.tv_sec - before.tv_sec) + 1e-9 * (after.tv_nsec - before.tv_nsec), moves, total);
  return 0;
}
