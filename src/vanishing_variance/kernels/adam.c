/* Adam on the rows of large tables of which a step reads a few: exactly what Adam on the whole table does, later.

   A row without a gradient still moves: its averages decay, and it takes a step. Those steps depend on nothing but the
   row, so they are made when the row is next read. In between the row costs nothing; over the whole table, Adam would
   read and write all of it at every step, and be bound by the memory.

   WIDTH, a row's length, is defined by whoever compiles this. Arrays are contiguous, seeds first. */

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t seeds, rows;             /* of the tables */
    float *value, *mean, *square;    /* seeds x rows x WIDTH: the table, and the averages of gradient and its square */
    int32_t *made;                   /* seeds x rows: the last step that each row has made */
    const float *size, *root;        /* by step, from 1: rate / (1 - beta1^step), and (1 - beta2^step)^-1/2 */
    float keep, beta1, beta2, new1, new2, epsilon;  /* keep: 1 - rate * decay; new: 1 - beta */
} Tables;

/* Rows lie far apart: ask for one while the one before it is worked on. */
static inline void expect(const Tables *of, const float *gradient, int64_t row) {
    int64_t at = row * WIDTH;
    for (int d = 0; d < WIDTH; d += 16) {
        __builtin_prefetch(of->value + at + d, 1);
        __builtin_prefetch(of->mean + at + d, 1);
        __builtin_prefetch(of->square + at + d, 1);
        if (gradient) __builtin_prefetch(gradient + at + d, 1);
    }
}

/* One row makes the steps from `first` to `last`, all with the same gradient. */
static inline void steps(const Tables *of, int64_t at, int64_t first, int64_t last, const float *gradient) {
    const float beta1 = of->beta1, beta2 = of->beta2, new1 = of->new1, new2 = of->new2;
    const float keep = of->keep, epsilon = of->epsilon;
    float value[WIDTH], mean[WIDTH], square[WIDTH];
    memcpy(value, of->value + at, sizeof value);
    memcpy(mean, of->mean + at, sizeof mean);
    memcpy(square, of->square + at, sizeof square);
    for (int64_t number = first; number <= last; number++) {
        const float size = of->size[number], root = of->root[number];
        #pragma omp simd
        for (int d = 0; d < WIDTH; d++) {
            mean[d] = beta1 * mean[d] + new1 * gradient[d];
            square[d] = beta2 * square[d] + new2 * gradient[d] * gradient[d];
            value[d] = keep * value[d] - size * mean[d] / (sqrtf(square[d]) * root + epsilon);
        }
    }
    memcpy(of->value + at, value, sizeof value);
    memcpy(of->mean + at, mean, sizeof mean);
    memcpy(of->square + at, square, sizeof square);
}

/* Let the rows numbered `wanted` (seeds x count) make the steps that they have not made, up to `last`. */
void catch_up(const Tables *of, const int64_t *wanted, int64_t count, int64_t last) {
    const float none[WIDTH] = {0};
    for (int64_t s = 0; s < of->seeds; s++)
    for (int64_t n = 0; n < count; n++) {
        int64_t row = s * of->rows + wanted[s * count + n];
        if (n + 2 < count) expect(of, 0, s * of->rows + wanted[s * count + n + 2]);
        if (of->made[row] >= last) continue;
        steps(of, row * WIDTH, of->made[row] + 1, last, none);
        of->made[row] = (int32_t)last;
    }
}

/* Step `number` of the rows numbered `wanted`, whose gradients stand in `gradient` (as large as the tables) and are
   set to zero; a row that is named twice makes one step. The rows have made all earlier steps. */
void make_step(const Tables *of, const int64_t *wanted, int64_t count, int64_t number, float *gradient) {
    for (int64_t s = 0; s < of->seeds; s++)
    for (int64_t n = 0; n < count; n++) {
        int64_t row = s * of->rows + wanted[s * count + n], at = row * WIDTH;
        if (n + 2 < count) expect(of, gradient, s * of->rows + wanted[s * count + n + 2]);
        if (of->made[row] == number) continue;
        steps(of, at, number, number, gradient + at);
        memset(gradient + at, 0, WIDTH * sizeof *gradient);
        of->made[row] = (int32_t)number;
    }
}
