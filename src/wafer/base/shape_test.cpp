#include "wafer/base/shape.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wafer/base/error.h"

namespace wafer {
namespace {

const Dim Batch = Dim::symbol("batch");
const Dim Seq = Dim::symbol("seq");

/// A product of a small factor and up to four symbols of three.
rc::Gen<Dim> any_dim() {
  const auto symbols =
      rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(
                             rc::gen::element<std::string>("batch", "seq", "heads")));
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(1, 1000), symbols), [](const auto& drawn) {
    Dim d(drawn.first);
    for (const std::string& s : drawn.second) d = d * Dim::symbol(s);
    return d;
  });
}

TEST(Dim, prints_factor_then_sorted_symbols) {
  EXPECT_EQ(Dim(128).text(), "128");
  EXPECT_EQ(Batch.text(), "batch");
  EXPECT_EQ((Seq * Dim(128) * Batch).text(), "128*batch*seq");
  EXPECT_EQ((Batch * Batch).text(), "batch*batch");
}

TEST(Dim, multiplies_in_any_order) {
  EXPECT_EQ(Batch * Seq, Seq * Batch);
  EXPECT_EQ(Batch * Dim(0), Dim(0));
}

TEST(Dim, divides_only_when_exact_for_every_binding) {
  EXPECT_EQ(divide_exact(Dim(12) * Batch, Dim(4)), Dim(3) * Batch);
  EXPECT_EQ(divide_exact(Dim(12) * Batch * Seq, Batch), Dim(12) * Seq);
  EXPECT_EQ(divide_exact(Dim(12), Dim(5)), std::nullopt);
  EXPECT_EQ(divide_exact(Batch, Seq), std::nullopt);
  EXPECT_EQ(divide_exact(Batch, Batch * Batch), std::nullopt);
  EXPECT_EQ(divide_exact(Batch, Dim(0)), std::nullopt);
}

TEST(Dim, binds_the_symbols_that_are_named) {
  const Dim d = Dim(2) * Batch * Batch * Seq;
  EXPECT_EQ(d.bound({{"batch", 3}}), Dim(18) * Seq);
  EXPECT_EQ(d.bound({{"batch", 3}, {"seq", 5}}).value(), 90);
}

TEST(Dim, tells_how_to_bind_it_when_its_value_is_asked) {
  try {
    (Dim(4) * Seq).value();
    FAIL() << "an unbound dimension has no value";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "dimension 4*seq is not bound: give it with --dim seq=VALUE");
  }
}

TEST(Dim, refuses_products_past_2_to_the_62) {
  const Dim half(int64_t{1} << 61);
  EXPECT_EQ((half * Dim(2)).value(), int64_t{1} << 62);
  EXPECT_THROW(half * Dim(3), InputError);
  EXPECT_THROW(half * Dim(-3), InputError);
  EXPECT_THROW(half * half, InputError);
}

TEST(Dim, refuses_what_is_no_name) {
  for (const char* name : {"", "9lives", "a b", "a-b", "a*b"}) {
    EXPECT_THROW(Dim::symbol(name), InputError) << name;
  }
}

TEST(Dim, parses_nothing_from_what_is_no_dimension) {
  for (const char* text : {"", "*", "4*", "*4", "4**batch", "4 *batch", "batch+1", "1e3"}) {
    EXPECT_EQ(Dim::parse(text), std::nullopt) << text;
  }
}

TEST(Dim, refuses_a_text_whose_number_is_too_large) {
  EXPECT_EQ(Dim::parse("99999999999999999999"), std::nullopt);
  EXPECT_THROW(Dim::parse("4611686018427387904*2"), InputError);
}

RC_GTEST_PROP(DimProperty, parse_of_text_is_the_same, ()) {
  const Dim d = *any_dim();
  RC_ASSERT(Dim::parse(d.text()) == d);
}

RC_GTEST_PROP(DimProperty, division_undoes_multiplication, ()) {
  const Dim a = *any_dim();
  const Dim b = *any_dim();
  RC_ASSERT(divide_exact(a * b, b) == a);
}

RC_GTEST_PROP(DimProperty, binding_and_multiplying_commute, ()) {
  const Dim a = *any_dim();
  const Dim b = *any_dim();
  const DimBindings bindings = {{"batch", 3}, {"seq", 5}, {"heads", 7}};
  RC_ASSERT((a * b).bound(bindings).value() ==
            a.bound(bindings).value() * b.bound(bindings).value());
}

TEST(TensorType, prints_its_type_then_its_shape) {
  EXPECT_EQ((TensorType{DType::F16, {64, 128}}).text(), "f16[64,128]");
  EXPECT_EQ((TensorType{DType::F32, {}}).text(), "f32[]");
  EXPECT_EQ((TensorType{DType::Cb16, {Batch, 128}}).text(), "cb16[batch,128]");
}

TEST(TensorType, counts_elements_and_bytes) {
  const TensorType t{DType::F16, {2, 3, 5}};
  EXPECT_EQ(t.rank(), 3);
  EXPECT_EQ(t.elements(), 30);
  EXPECT_EQ(t.bytes(), Bytes(60));
  EXPECT_EQ((TensorType{DType::F64, {}}).bytes(), Bytes(8));
}

TEST(TensorType, binds_all_its_dimensions) {
  const TensorType t{DType::F32, {Batch, Seq}};
  EXPECT_FALSE(t.is_static());
  EXPECT_THROW(t.elements(), InputError);
  const TensorType bound = t.bound({{"batch", 4}, {"seq", 8}});
  EXPECT_TRUE(bound.is_static());
  EXPECT_EQ(bound.elements(), 32);
}

}  // namespace
}  // namespace wafer
