// Every curve id reaches the code of its own curve.
#include "formats/with_curve.h"

#include <string>

#include <gtest/gtest.h>

#include "base/result.h"

namespace cuzk::formats {
namespace {

TEST(WithCurve, CallsWithTheCurveOfTheId) {
  for (const CurveId id : {CurveId::kBn254, CurveId::kBls12_381}) {
    int calls = 0;
    const std::string name = with_curve(id, [&]<class C>(std::type_identity<C>) {
      ++calls;
      EXPECT_EQ(kCurveId<C>, id);
      return std::string(C::kName);
    });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(name, curve_name(id));
  }
}

TEST(WithCurve, GivesBackWhatTheWorkReturns) {
  const auto none = with_curve(CurveId::kBn254, []<class C>(std::type_identity<C>) {
    return base::Result<int>(base::Error{base::ErrorKind::kMismatch, C::kName});
  });
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "BN254");
}

}  // namespace
}  // namespace cuzk::formats
