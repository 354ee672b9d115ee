/* Adam with decoupled decay, of whole tensors, and of the rows of large tables of which a step reads a few: exactly what
   Adam on the whole table does, later.

   A row without a gradient still moves: its averages shrink, and it takes a step. Those steps depend on nothing but the
   row, so they are made when the row is next read. In between the row costs nothing; over the whole table, Adam would
   read and write all of it at every step, and be bound by the memory. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 64    /* numbers of a row that are worked on together */
#define DIVIDED 100

typedef struct {
    /* by step, from 1: rate / (1 - beta1^step), (1 - beta2^step)^-1/2, and 1 - rate * decay */
    const float *size, *root, *keep;
    float beta1, beta2, new1, new2, epsilon;  /* new: 1 - beta */
} Rule;

typedef struct {
    int64_t seeds, rows, width;    /* of the tables */
    float *value, *mean, *square;  /* the table, and the averages of gradient and its square */
    int32_t *completed;            /* seeds x rows: the last step that each row has made */
} Table;

/* Step `number` of `count` numbers. */
void step_whole(const Rule *rule, int64_t number, int64_t count, float *value, float *mean, float *square,
                const float *gradient) {
    const float beta1 = rule->beta1, beta2 = rule->beta2, new1 = rule->new1, new2 = rule->new2;
    const float keep = rule->keep[number], size = rule->size[number], root = rule->root[number];
    const float epsilon = rule->epsilon;
    #pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        mean[i] = beta1 * mean[i] + new1 * gradient[i];
        square[i] = beta2 * square[i] + new2 * gradient[i] * gradient[i];
        value[i] = keep * value[i] - size * mean[i] / (sqrtf(square[i]) * root + epsilon);
    }
}

/* The steps from `first` to `last` without a gradient, of at most LANES numbers. The averages shrink by beta1 and beta2
   in each, so that one square root serves them all. After step DIVIDED denominators hardly change from step to step:
   Newton's method, from the last one's reciprocal, is as exact as a division and takes a quarter of its time. */
static inline void coast(const Rule *rule, int64_t first, int64_t last, int64_t count, float *value, float *mean,
                         float *square) {
    float moved[LANES], start[LANES], root[LANES], inverse[LANES], shrunk1 = 1, shrunk2 = 1;
    const float epsilon = rule->epsilon, root2 = sqrtf(rule->beta2);
    for (int64_t i = 0; i < count; i++) moved[i] = value[i], start[i] = mean[i], root[i] = sqrtf(square[i]);
    for (int64_t number = first; number <= last; number++) {
        shrunk1 *= rule->beta1;
        shrunk2 *= root2;
        const float keep = rule->keep[number];
        const float size = rule->size[number] * shrunk1, scale = rule->root[number] * shrunk2;
        if (number == first || number < DIVIDED)
            #pragma omp simd
            for (int64_t i = 0; i < count; i++) inverse[i] = 1 / (root[i] * scale + epsilon);
        else
            #pragma omp simd
            for (int64_t i = 0; i < count; i++) {
                float below = root[i] * scale + epsilon, one = inverse[i] * (2 - below * inverse[i]);
                inverse[i] = one * (2 - below * one);
            }
        #pragma omp simd
        for (int64_t i = 0; i < count; i++) moved[i] = keep * moved[i] - size * start[i] * inverse[i];
    }
    for (int64_t i = 0; i < count; i++) value[i] = moved[i], mean[i] *= shrunk1, square[i] *= shrunk2 * shrunk2;
}

/* Rows lie far apart: ask for one while the one before it is worked on. */
static inline void prefetch(const Table *table, int64_t row) {
    for (int64_t at = row * table->width; at < (row + 1) * table->width; at += 16) {
        __builtin_prefetch(table->value + at, 1);
        __builtin_prefetch(table->mean + at, 1);
        __builtin_prefetch(table->square + at, 1);
    }
}

/* Let the rows numbered `wanted` (seeds x count) make the steps that they have not made, up to `last`, and copy them to
   `read` (seeds x count x width), unless it is NULL. */
void catch_up(const Rule *rule, const Table *table, const int64_t *wanted, int64_t count, int64_t last, float *read) {
    const int64_t width = table->width;
    for (int64_t s = 0; s < table->seeds; s++)
    for (int64_t n = 0; n < count; n++) {
        int64_t row = s * table->rows + wanted[s * count + n];
        if (n + 2 < count) prefetch(table, s * table->rows + wanted[s * count + n + 2]);
        int64_t next = table->completed[row] + 1;
        for (int64_t from = 0, at = row * width; next <= last && from < width; from += LANES, at += LANES) {
            float *value = table->value + at, *mean = table->mean + at, *square = table->square + at;
            if (width - from >= LANES) coast(rule, next, last, LANES, value, mean, square);
            else coast(rule, next, last, width - from, value, mean, square);
        }
        table->completed[row] = (int32_t)last;
        if (read) memcpy(read + (s * count + n) * width, table->value + row * width, width * sizeof *read);
    }
}

/* Let every row of `copy`, a copy of the table's values, make the steps that the row has not made, up to `last`; the
   table stays as it is. */
void catch_up_copy(const Rule *rule, const Table *table, int64_t last, float *copy) {
    const int64_t width = table->width;
    for (int64_t row = 0; row < table->seeds * table->rows; row++) {
        int64_t next = table->completed[row] + 1;
        for (int64_t from = 0, at = row * width; next <= last && from < width; from += LANES, at += LANES) {
            float mean[LANES], square[LANES];
            int64_t count = width - from < LANES ? width - from : LANES;
            memcpy(mean, table->mean + at, count * sizeof *mean);
            memcpy(square, table->square + at, count * sizeof *square);
            coast(rule, next, last, count, copy + at, mean, square);
        }
    }
}

/* Step `number` of the rows numbered `wanted`, with `gradient` (seeds x count x width); a row that is named again makes
   no second step. The rows have made all earlier steps. */
void step_rows(const Rule *rule, const Table *table, const int64_t *wanted, int64_t count, int64_t number,
               const float *gradient) {
    for (int64_t s = 0; s < table->seeds; s++)
    for (int64_t n = 0; n < count; n++, gradient += table->width) {
        int64_t row = s * table->rows + wanted[s * count + n], at = row * table->width;
        if (n + 2 < count) prefetch(table, s * table->rows + wanted[s * count + n + 2]);
        if (table->completed[row] == number) continue;
        step_whole(rule, number, table->width, table->value + at, table->mean + at, table->square + at, gradient);
        table->completed[row] = (int32_t)number;
    }
}
