/* Attention of one query over the items of a sequence, and its gradient, in one pass over the items each.

   Item n enters GELU as x_n = scale_n base[base_index_n] + embedding[embedding_index_n] (items.py); with
   h_n = gelu(x_n), the logits are l_n = query . h_n, and the context is the mean of h with the weights softmax(l). h is
   never stored: a tile of items stays in the first-level cache, and the gradient computes it again.

   WIDTH is defined by whoever compiles this; with NO_GELU, h_n = x_n. Arrays are contiguous float32,
   seeds first, then sequences. A *_seed is how far the next seed's part is, 0 where all seeds share it. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define TILE 32
#define AHEAD 8 /* items: rows chosen by number lie far apart, and are asked for so long before they are used */

typedef struct {
    int64_t seeds, sequences, items;
    const float *scale;             int64_t scale_seed;           /* NULL: 1 */
    const float *base;              int64_t base_seed;
    const int32_t *base_index;      int64_t base_index_seed;      /* NULL: the first base serves all items */
    const float *embedding;         int64_t embedding_seed;
    const int32_t *embedding_index; int64_t embedding_index_seed;
} Items;

typedef struct {
    float scale;
    const float *row;
    int64_t base_offset, embedding_offset;
} Item;

static inline Item item(const Items *in, int64_t seed, int64_t at) {
    int64_t offset = in->base_index ? (int64_t)in->base_index[seed * in->base_index_seed + at] * WIDTH : 0;
    return (Item){
        .scale = in->scale ? in->scale[seed * in->scale_seed + at] : 1.0f,
        .row = in->base + seed * in->base_seed + offset,
        .base_offset = seed * in->base_seed + offset,
        .embedding_offset = seed * in->embedding_seed
            + (int64_t)in->embedding_index[seed * in->embedding_index_seed + at] * WIDTH,
    };
}

static inline void prefetch(const Items *in, int64_t seed, int64_t at) {
    const float *base = in->base + seed * in->base_seed
        + (int64_t)in->base_index[seed * in->base_index_seed + at] * WIDTH;
    for (int d = 0; d < WIDTH; d += 16) __builtin_prefetch(base + d);
}

/* e^y for y <= 0, relative error below 2e-7: y = n ln 2 + r, and Cephes' polynomial (expf.c) for e^r. NaN stays NaN. */
static inline float exp_nonpositive(float y) {
    y = y < -87.0f ? -87.0f : y;
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer, which the low bits then hold */
    float shifted = y * 1.44269504088896341f + magic;
    int32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    float n = shifted - magic;
    float r = y - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    uint32_t power = ((uint32_t)bits + 127u) << 23;
    float scale;
    memcpy(&scale, &power, sizeof scale);
    return p * scale;
}

/* The normal distribution function at x, error below 1e-7 (Abramowitz and Stegun 1964, 7.1.26, as torch uses it), and
   the density. gelu(x) = x Phi(x), and its derivative is Phi(x) + x phi(x): both take one exponential. */
static inline void normal(float x, float *distribution, float *density) {
#ifdef NO_GELU
    *distribution = 1, *density = 0;
#else
    float e = exp_nonpositive(-0.5f * x * x);
    float distance = x < 0 ? -x : x;
    float t = 1.0f / (1.0f + 0.3275911f * 0.70710678118654752f * distance);
    float q = 1.061405429f;
    q = q * t - 1.453152027f;
    q = q * t + 1.421413741f;
    q = q * t - 0.284496736f;
    q = q * t + 0.254829592f;
    float tail = 0.5f * q * t * e;
    *distribution = x < 0 ? tail : 1.0f - tail;
    *density = 0.39894228040143267f * e;
#endif
}

/* query, context: seeds x sequences x WIDTH. logits: seeds x sequences x items. peak: the largest logit of each
   sequence; sum: of e^(l - peak). Sums over tiles of items are in double precision: a million items lose nothing. */
void attend(const Items *in, const float *query, float *context, float *logits, float *peak, float *sum) {
    for (int64_t s = 0; s < in->seeds; s++)
    for (int64_t b = 0; b < in->sequences; b++) {
        int64_t sb = s * in->sequences + b;
        const float *towards = query + sb * WIDTH;
        float *l = logits + sb * in->items;
        double total = 0, weighted[WIDTH] = {0};
        float top = -INFINITY;
        for (int64_t first = 0; first < in->items; first += TILE) {
            int64_t count = in->items - first < TILE ? in->items - first : TILE;
            float h[TILE][WIDTH], of_tile[WIDTH] = {0}, above = top, weights = 0;
            for (int64_t n = 0; n < count; n++) {
                if (in->base_index && first + n + AHEAD < in->items) prefetch(in, s, b * in->items + first + n + AHEAD);
                Item it = item(in, s, b * in->items + first + n);
                const float *entry = in->embedding + it.embedding_offset;
                float dot = 0;
                #pragma omp simd reduction(+ : dot)
                for (int d = 0; d < WIDTH; d++) {
                    float distribution, density, x = it.scale * it.row[d] + entry[d];
                    normal(x, &distribution, &density);
                    h[n][d] = x * distribution;
                    dot += h[n][d] * towards[d];
                }
                l[first + n] = dot;
                above = dot > above ? dot : above;
            }
            if (above > top) {
                double down = exp_nonpositive(top - above);
                total *= down;
                for (int d = 0; d < WIDTH; d++) weighted[d] *= down;
                top = above;
            }
            for (int64_t n = 0; n < count; n++) {
                float weight = exp_nonpositive(l[first + n] - top);
                weights += weight;
                #pragma omp simd
                for (int d = 0; d < WIDTH; d++) of_tile[d] += weight * h[n][d];
            }
            total += weights;
            for (int d = 0; d < WIDTH; d++) weighted[d] += of_tile[d];
        }
        for (int d = 0; d < WIDTH; d++) context[sb * WIDTH + d] = (float)(weighted[d] / total);
        peak[sb] = top;
        sum[sb] = (float)total;
    }
}

/* From the gradient with respect to `context`, those with respect to query, base and embedding. With weights a and
   gradient g: dl_n = a_n (g . h_n - g . context), dh_n = a_n g + dl_n query, dx_n = dh_n gelu'(x_n).
   to_base and to_embedding are added to. */
void attend_gradient(const Items *in, const float *query, const float *context, const float *logits,
                     const float *peak, const float *sum, const float *gradient,
                     float *to_query, float *to_base, float *to_embedding) {
    for (int64_t s = 0; s < in->seeds; s++)
    for (int64_t b = 0; b < in->sequences; b++) {
        int64_t sb = s * in->sequences + b;
        const float *towards = query + sb * WIDTH, *g = gradient + sb * WIDTH;
        float centre = 0, to_towards[WIDTH] = {0}, to_row[WIDTH] = {0};
        #pragma omp simd reduction(+ : centre)
        for (int d = 0; d < WIDTH; d++) centre += g[d] * context[sb * WIDTH + d];
        for (int64_t n = 0; n < in->items; n++) {
            if (in->base_index && n + AHEAD < in->items) prefetch(in, s, b * in->items + n + AHEAD);
            Item it = item(in, s, b * in->items + n);
            const float *entry = in->embedding + it.embedding_offset;
            float h[WIDTH], slope[WIDTH], dot = 0;
            #pragma omp simd reduction(+ : dot)
            for (int d = 0; d < WIDTH; d++) {
                float distribution, density, x = it.scale * it.row[d] + entry[d];
                normal(x, &distribution, &density);
                h[d] = x * distribution;
                slope[d] = distribution + x * density;
                dot += h[d] * g[d];
            }
            float weight = exp_nonpositive(logits[sb * in->items + n] - peak[sb]) / sum[sb];
            float to_logit = weight * (dot - centre);
            float *to_entry = to_embedding + it.embedding_offset;
            float *own = in->base_index ? to_base + it.base_offset : to_row;
            #pragma omp simd
            for (int d = 0; d < WIDTH; d++) {
                float back = (weight * g[d] + to_logit * towards[d]) * slope[d];
                to_towards[d] += to_logit * h[d];
                to_entry[d] += back;
                own[d] += it.scale * back;
            }
        }
        memcpy(to_query + sb * WIDTH, to_towards, sizeof to_towards);
        if (!in->base_index)
            for (int d = 0; d < WIDTH; d++) to_base[s * in->base_seed + d] += to_row[d];
    }
}

/* The two halves of `attend`, with any weights between them: logits l_n = query . h_n, and the context
   sum_n weight_n h_n, whose weights need not sum to one. */
void products(const Items *in, const float *query, float *logits) {
    for (int64_t s = 0; s < in->seeds; s++)
    for (int64_t b = 0; b < in->sequences; b++) {
        const float *towards = query + (s * in->sequences + b) * WIDTH;
        float *l = logits + (s * in->sequences + b) * in->items;
        for (int64_t n = 0; n < in->items; n++) {
            if (in->base_index && n + AHEAD < in->items) prefetch(in, s, b * in->items + n + AHEAD);
            Item it = item(in, s, b * in->items + n);
            const float *entry = in->embedding + it.embedding_offset;
            float dot = 0;
            #pragma omp simd reduction(+ : dot)
            for (int d = 0; d < WIDTH; d++) {
                float distribution, density, x = it.scale * it.row[d] + entry[d];
                normal(x, &distribution, &density);
                dot += x * distribution * towards[d];
            }
            l[n] = dot;
        }
    }
}

void weighted_sum(const Items *in, const float *weights, float *context) {
    for (int64_t s = 0; s < in->seeds; s++)
    for (int64_t b = 0; b < in->sequences; b++) {
        const float *weight = weights + (s * in->sequences + b) * in->items;
        double total[WIDTH] = {0};
        for (int64_t first = 0; first < in->items; first += TILE) {
            int64_t end = in->items - first < TILE ? in->items : first + TILE;
            float of_tile[WIDTH] = {0};
            for (int64_t n = first; n < end; n++) {
                if (weight[n] == 0) continue;
                Item it = item(in, s, b * in->items + n);
                const float *entry = in->embedding + it.embedding_offset;
                #pragma omp simd
                for (int d = 0; d < WIDTH; d++) {
                    float distribution, density, x = it.scale * it.row[d] + entry[d];
                    normal(x, &distribution, &density);
                    of_tile[d] += weight[n] * x * distribution;
                }
            }
            for (int d = 0; d < WIDTH; d++) total[d] += of_tile[d];
        }
        for (int d = 0; d < WIDTH; d++) context[(s * in->sequences + b) * WIDTH + d] = (float)total[d];
    }
}

/* The gradient of sum_n weight_n (vector . h_n), which both halves have in common, with respect to the weights, the
   vector, base and embedding. to_base and to_embedding are added to. */
void bilinear_gradient(const Items *in, const float *weights, const float *vector, float *to_weights, float *to_vector,
                       float *to_base, float *to_embedding) {
    for (int64_t s = 0; s < in->seeds; s++)
    for (int64_t b = 0; b < in->sequences; b++) {
        int64_t sb = s * in->sequences + b;
        const float *weight = weights + sb * in->items, *v = vector + sb * WIDTH;
        float summed[WIDTH] = {0}, to_row[WIDTH] = {0};
        for (int64_t n = 0; n < in->items; n++) {
            if (in->base_index && n + AHEAD < in->items) prefetch(in, s, b * in->items + n + AHEAD);
            Item it = item(in, s, b * in->items + n);
            const float *entry = in->embedding + it.embedding_offset;
            float *to_entry = to_embedding + it.embedding_offset;
            float *own = in->base_index ? to_base + it.base_offset : to_row;
            float dot = 0;
            #pragma omp simd reduction(+ : dot)
            for (int d = 0; d < WIDTH; d++) {
                float distribution, density, x = it.scale * it.row[d] + entry[d];
                normal(x, &distribution, &density);
                float back = weight[n] * v[d] * (distribution + x * density);
                dot += x * distribution * v[d];
                summed[d] += weight[n] * x * distribution;
                to_entry[d] += back;
                own[d] += it.scale * back;
            }
            to_weights[sb * in->items + n] = dot;
        }
        memcpy(to_vector + sb * WIDTH, summed, sizeof summed);
        if (!in->base_index)
            for (int d = 0; d < WIDTH; d++) to_base[s * in->base_seed + d] += to_row[d];
    }
}

/* x becomes gelu(x), and `slope`, unless it is NULL, its derivative there. */
void gelu(int64_t count, float *x, float *slope) {
    for (int64_t first = 0; first < count; first += WIDTH)
    #pragma omp simd
    for (int64_t i = first; i < (first + WIDTH < count ? first + WIDTH : count); i++) {
        float distribution, density;
        normal(x[i], &distribution, &density);
        if (slope) slope[i] = distribution + x[i] * density;
        x[i] *= distribution;
    }
}
